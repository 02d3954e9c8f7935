//! What is under way in a session, until its span is over.

use std::collections::BTreeMap;

use longhaul_events::{Content, Seq, StepId, Timestamp};
use serde_json::{Value, json};

use super::{Span, Telling};

/// Something that has begun: its event, and when that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begun {
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
}

/// An agent at a step, from when it was handed out, or taken up again, until it came back.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    pub(super) begun: Begun,
    pub(super) step: StepId,
    pub(super) prompt: Option<String>,
    pub(super) used: Usage,
    /// Requests without a bill.
    pub(super) requests: BTreeMap<u64, Begun>,
    /// Requests with one, of a turn that is not over. How the turn ends is still to be told with the last of them.
    pub(super) billed: Vec<Span>,
    /// What the newest turn wants done.
    pub(super) wanted: Vec<Option<String>>,
    /// Calls that were begun, by turn and number.
    pub(super) calls: BTreeMap<(u32, u32), Begun>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cost_micros: u64,
}

impl Stretch {
    pub(super) const fn new(begun: Begun, step: StepId, prompt: Option<String>) -> Self {
        Self {
            begun,
            step,
            prompt,
            used: Usage { input: 0, output: 0, cost_micros: 0 },
            requests: BTreeMap::new(),
            billed: Vec::new(),
            wanted: Vec::new(),
            calls: BTreeMap::new(),
        }
    }

    pub(super) fn use_up(&mut self, input: u64, output: u64, cost_micros: u64) {
        self.used.input = self.used.input.saturating_add(input);
        self.used.output = self.used.output.saturating_add(output);
        self.used.cost_micros = self.used.cost_micros.saturating_add(cost_micros);
    }
}

/// A step of the engine's own, or a gate, that is out.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) begun: Begun,
    pub(super) step: StepId,
}

/// What a content says, if that is told. What is large lies in a blob and is only named.
pub(super) fn told(telling: Telling, content: &Content) -> Option<String> {
    match (telling, content) {
        (Telling::WithoutContent, _) => None,
        (Telling::WithContent, Content::Inline(Value::String(text))) => Some(text.clone()),
        (Telling::WithContent, Content::Inline(value)) => Some(value.to_string()),
        (Telling::WithContent, Content::Blob(blob)) => {
            Some(format!("(sha256:{}, {} bytes)", blob.sha256, blob.bytes))
        }
    }
}

/// A text as a message of somebody.
pub(super) fn message(role: &str, text: &str) -> String {
    json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
}
