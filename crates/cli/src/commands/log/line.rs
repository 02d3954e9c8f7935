//! One line of the log as it is shown. The key of a session is never in it: whoever has it can sign handles.

use longhaul_runtime::types::rfc3339;
use longhaul_runtime::{EventRow, LogEntry};
use serde::Serialize;
use serde_json::Value;

use crate::moment;
use crate::output::Row;

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum LogLine {
    Event { position: u64, stream: String, seq: u64, at: String, redacted: bool, event: Value },
    Damaged { position: u64, stream: String, damage: String },
}

impl LogLine {
    pub(super) fn of(entry: LogEntry) -> Self {
        match entry {
            LogEntry::Event(row) => Self::event(row),
            LogEntry::Damaged { position, stream, reason } => {
                Self::Damaged { position: position.0, stream, damage: reason }
            }
        }
    }

    pub(super) fn event(row: EventRow) -> Self {
        Self::Event {
            position: row.position.0,
            seq: row.seq.0,
            at: rfc3339(row.at),
            redacted: row.redacted,
            event: without_key(&row.stream, row.event),
            stream: row.stream,
        }
    }

    pub(super) const fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

fn without_key(stream: &str, mut event: Value) -> Value {
    if let Some(key) = event.get_mut("key").filter(|_| stream.starts_with("session/")) {
        *key = Value::String("…".to_owned());
    }
    event
}

impl Row for LogLine {
    const WIDTHS: &'static [usize] = &[24, 23, 4, 15];

    fn cells(&self) -> Vec<(&'static str, String)> {
        let (at, stream, seq, kind, rest) = match self {
            Self::Event { stream, seq, at, event, .. } => {
                let (kind, rest) = split(event);
                (moment::shown(at), stream, seq.to_string(), kind, rest)
            }
            Self::Damaged { stream, damage, .. } => {
                ("-".to_owned(), stream, "-".to_owned(), "damaged".to_owned(), damage.clone())
            }
        };
        vec![("TIME", at), ("STREAM", stream.clone()), ("SEQ", seq), ("TYPE", kind), ("EVENT", rest)]
    }
}

/// The type of an event, and all else that it says.
fn split(event: &Value) -> (String, String) {
    let Value::Object(fields) = event else { return ("?".to_owned(), event.to_string()) };
    let mut rest = fields.clone();
    // In order, because people read it.
    let kind = rest.shift_remove("type");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("?").to_owned();
    (kind, if rest.is_empty() { String::new() } else { Value::Object(rest).to_string() })
}

#[cfg(test)]
mod tests {
    use longhaul_runtime::types::{Position, Seq, Timestamp};
    use serde_json::json;

    use super::*;

    fn line(stream: &str, event: Value) -> LogLine {
        let (position, seq, at) = (Position(1), Seq(1), Timestamp(0));
        LogLine::event(EventRow { position, stream: stream.to_owned(), seq, at, event, redacted: false })
    }

    #[test]
    fn the_key_of_a_session_is_neither_in_the_table_nor_in_json() {
        let line = line("session/s-1", json!({"type": "opened", "key": "sesame", "goal": {"key": "kept"}}));
        let shown = format!("{:?} {}", line.cells(), serde_json::to_string(&line).unwrap());
        assert!(!shown.contains("sesame") && shown.contains("kept"), "{shown}");
    }

    #[test]
    fn what_is_no_event_is_shown_as_it_is() {
        assert_eq!(split(&json!("torn")), ("?".to_owned(), "\"torn\"".to_owned()));
        assert_eq!(split(&json!({"type": 3})), ("?".to_owned(), String::new()));
        assert_eq!(
            split(&json!({"b": 1, "type": "x", "a": 2})),
            ("x".to_owned(), r#"{"b":1,"a":2}"#.to_owned())
        );
    }
}
