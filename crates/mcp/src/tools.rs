//! The tools, each one command or one query.

mod checkpoint;
mod r#continue;
mod inspect;
mod list;
mod resume;
mod schema;
mod start;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ToolEntry, ToolAnnotations};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;

/// One tool: what a client is told of it, and what it does.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: fn() -> Value,
    pub(crate) output: fn() -> Value,
    pub(crate) effect: Effect,
    pub(crate) run: fn(&Desk, &Arguments) -> Result<Reply, Refusal>,
}

/// What a call may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    /// Writes to the log; called twice with the same arguments, it writes once.
    RecordsOnce,
    Records,
}

/// What agents that people drive are offered.
pub(crate) const OUTER: [&Tool; 6] =
    [&list::TOOL, &inspect::TOOL, &start::TOOL, &r#continue::TOOL, &checkpoint::TOOL, &resume::TOOL];

impl Tool {
    pub(crate) fn entry(&self) -> ToolEntry {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.effect == Effect::Reads)
            .destructive(false)
            .idempotent(self.effect != Effect::Records)
            .open_world(false);
        ToolEntry::new(self.name, self.description, object((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(object((self.output)()))
            .with_annotations(annotations)
    }

    /// The names of its arguments, aliases among them.
    fn known(&self) -> Vec<String> {
        let schema = (self.input)();
        let names = schema["properties"].as_object().map(|known| known.keys().cloned().collect());
        names.unwrap_or_default()
    }

    pub(crate) fn call(&self, desk: &Desk, fields: JsonObject) -> Result<Reply, Refusal> {
        let known = self.known();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        (self.run)(desk, &Arguments::new(fields, &known)?)
    }
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(fields) => Arc::new(fields),
        other => unreachable!("a schema is an object: {other}"),
    }
}
