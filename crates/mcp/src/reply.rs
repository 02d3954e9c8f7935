//! What a tool answers: an object for programs, and the same in few words.

use longhaul_runtime::types::StepView;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::words;

/// An answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) value: Value,
    /// Where the session stands, if the answer is about one: a gate in it may be asked about.
    pub(crate) view: Option<StepView>,
    pub(crate) is_error: bool,
}

impl Reply {
    pub(crate) fn new(text: String, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("answers have string keys only");
        Self { text, value, view: None, is_error: false }
    }

    /// Where a session stands.
    pub(crate) fn step(view: StepView) -> Self {
        let mut reply = Self::new(words::step(&view), &view);
        // Some clients give a model the object and not the words, and it must stop all the same.
        if let (Some(gate), Value::Array(warnings)) = (&view.gate, &mut reply.value["warnings"]) {
            warnings.push(json!(words::stop(gate)));
        }
        Self { view: Some(view), ..reply }
    }

    /// A refusal, with the token that is as good as it was before the call.
    pub(crate) fn refused(refusal: &Refusal, token: Option<(&'static str, String)>) -> Self {
        let mut text = words::error(refusal);
        let mut value = json!({ "error": error(refusal) });
        if let Some((name, token)) = token {
            text = format!("{text}{name}: {token}\n");
            value[name] = json!(token);
        }
        Self { text, value, view: None, is_error: true }
    }

    /// A refusal, with where the session stands, so that there is a handle to go on from.
    pub(crate) fn refused_at(refusal: &Refusal, view: StepView) -> Self {
        // The prompt was told before, and the error is what matters now.
        let view = StepView { prompt: None, ..view };
        let text = format!("{}\n{}", words::error(refusal), words::step(&view));
        let mut value = serde_json::to_value(&view).expect("a view has string keys only");
        value["error"] = error(refusal);
        Self { text, value, view: None, is_error: true }
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(self.text)];
        let mut result =
            if self.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = Some(self.value);
        result
    }
}

fn error(refusal: &Refusal) -> Value {
    json!({ "code": refusal.code, "message": refusal.message })
}
