//! From an event of `tracing` to a line.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use longhaul_core::scrub::Scrubber;
use longhaul_core::time::rfc3339;
use longhaul_events::{SessionId, TaskId, Timestamp};
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::Sink;
use crate::clock::{Clock as _, SystemClock};

/// A text of somebody else is cut to this, so that a line stays one write.
const LONGEST_TEXT: usize = 4096;
/// So many of such texts are kept.
const MOST_FIELDS: usize = 24;

/// Which process writes, and what its lines are about where they do not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogOrigin {
    /// What it is: `runner`, `daemon`.
    pub process: String,
    pub session: Option<SessionId>,
    pub task: Option<TaskId>,
}

pub(crate) struct FileLayer {
    sink: Sink,
    origin: LogOrigin,
    scrubber: Arc<RwLock<Arc<Scrubber>>>,
}

impl FileLayer {
    pub(crate) const fn new(sink: Sink, origin: LogOrigin, scrubber: Arc<RwLock<Arc<Scrubber>>>) -> Self {
        Self { sink, origin, scrubber }
    }

    fn write(&self, now: Timestamp, line: Map<String, Value>) {
        let scrubber = self.scrubber.read().unwrap_or_else(PoisonError::into_inner).clone();
        let lost = |number: u64| {
            let message = format!("{number} lines before this one could not be written");
            scrubbed(&scrubber, self.line(now, "warn", module_path!(), Said::of(message)))
        };
        self.sink.write(now, &scrubbed(&scrubber, line), lost);
    }

    fn line(&self, now: Timestamp, level: &str, target: &str, said: Said) -> Map<String, Value> {
        let Said { message, mut fields } = said;
        let mut line = Map::new();
        line.insert("time".to_owned(), json!(rfc3339(now)));
        line.insert("level".to_owned(), json!(level));
        line.insert("target".to_owned(), json!(target));
        line.insert("message".to_owned(), json!(message));
        let own = [
            ("task", self.origin.task.map(|task| task.to_string())),
            ("session", self.origin.session.map(|session| session.to_string())),
            ("trigger", None),
        ];
        for (name, usual) in own {
            if let Some(value) = fields.shift_remove(name).or(usual.map(Value::String)) {
                line.insert(name.to_owned(), value);
            }
        }
        let process = format!("{}-{}", self.origin.process, std::process::id());
        line.insert("process".to_owned(), json!(process));
        if !fields.is_empty() {
            line.insert("fields".to_owned(), Value::Object(fields));
        }
        line
    }
}

/// First value by value, so that a line stays a line whatever the secret is; then whatever shows in the whole. Only what is
/// clean is cut: of a secret that is cut in two, nobody would know the first half.
fn scrubbed(scrubber: &Scrubber, line: Map<String, Value>) -> Vec<u8> {
    let mut line = line;
    for value in line.values_mut() {
        scrubber.value(value);
        cut(value);
    }
    scrubber.bytes(Value::Object(line).to_string().as_bytes()).into_owned()
}

impl<S: Subscriber> Layer<S> for FileLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut said = Said::default();
        event.record(&mut said);
        let (now, metadata) = (SystemClock.now(), event.metadata());
        let level = metadata.level().as_str().to_ascii_lowercase();
        self.write(now, self.line(now, &level, metadata.target(), said));
    }
}

/// What an event says.
#[derive(Debug, Default)]
struct Said {
    message: String,
    fields: Map<String, Value>,
}

impl Said {
    fn of(message: String) -> Self {
        Self { message, fields: Map::new() }
    }

    fn put(&mut self, field: &Field, value: Value) {
        if self.fields.len() < MOST_FIELDS {
            self.fields.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for Said {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, json!(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" {
            self.message = text;
        } else {
            self.put(field, Value::String(text));
        }
    }
}

/// Whole letters only.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            let end = (0..=LONGEST_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        Value::Object(fields) => fields.values_mut().for_each(cut),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
}
