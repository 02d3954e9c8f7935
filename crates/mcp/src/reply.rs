//! What a tool answers: an object for programs, and the same in few words.

use longhaul_runtime::types::StepView;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::words::{self, Audience};

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) value: Value,
    /// Where the session stands, if the answer is about one: a gate in it may be asked about.
    pub(crate) view: Option<StepView>,
    pub(crate) is_error: bool,
    /// The sessions that a search found, where the answer came from one.
    pub(crate) candidates: Option<Value>,
}

/// A token that came with a call.
#[derive(Debug, Clone)]
pub(crate) struct SentToken {
    /// The argument that it came in.
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

impl SentToken {
    pub(crate) fn among(fields: &serde_json::Map<String, Value>) -> Option<Self> {
        ["continueToken", "checkpointToken"].into_iter().find_map(|name| {
            let text = fields.get(name)?.as_str()?.trim().to_owned();
            Some(Self { name, text })
        })
    }
}

impl Reply {
    pub(crate) fn new(text: String, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("answers have string keys only");
        Self { text, value, view: None, is_error: false, candidates: None }
    }

    /// Where a session stands.
    pub(crate) fn step(view: StepView, audience: Audience) -> Self {
        let reply = Self::new(words::step(&view, audience), &object(&view, audience));
        Self { view: Some(view), ..reply }
    }

    /// A refusal, with the token that is as good as it was before the call.
    pub(crate) fn refused(refusal: &Refusal, token: Option<&SentToken>) -> Self {
        let mut text = words::error(refusal);
        let mut value = json!({ "error": error(refusal) });
        if let Some(SentToken { name, text: token }) = token {
            text = format!("{text}{name}: {token}\n");
            value[*name] = json!(token);
        }
        Self { is_error: true, ..Self::new(text, &value) }
    }

    /// A refusal, with where the session stands, so that there is a handle to go on from.
    pub(crate) fn refused_at(refusal: &Refusal, view: StepView, audience: Audience) -> Self {
        // The prompt was told before, and the error is what matters now.
        let view = StepView { prompt: None, ..view };
        let text = format!("{}\n{}", words::error(refusal), words::step(&view, audience));
        let mut value = object(&view, audience);
        value["error"] = error(refusal);
        Self { is_error: true, ..Self::new(text, &value) }
    }

    /// Says something before everything else.
    pub(crate) fn warn(&mut self, warning: &str) {
        self.text = format!("{warning}\n\n{}", self.text);
        if let Value::Array(warnings) = &mut self.value["warnings"] {
            warnings.push(json!(warning));
        }
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(self.text)];
        let mut result =
            if self.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = Some(self.value);
        result
    }
}

/// The object of where a session stands. Some clients give a model the object and not the words, and it must stop at a
/// gate all the same.
pub(crate) fn object(view: &StepView, audience: Audience) -> Value {
    let mut value = serde_json::to_value(view).expect("a view has string keys only");
    if let (Some(gate), Value::Array(warnings)) = (&view.gate, &mut value["warnings"]) {
        warnings.push(json!(words::stop(gate)));
    }
    if audience == Audience::Leaf {
        // There is no tool that would take it.
        value["checkpointToken"] = Value::Null;
    }
    value
}

fn error(refusal: &Refusal) -> Value {
    json!({ "code": refusal.code, "message": refusal.message })
}
