//! An answer while it comes, and when it is whole.

use longhaul_events::ModelUsage;
use serde_json::{Value, json};

use crate::request::WantedCall;
use crate::wire::Wire;

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    /// All that it wants made at once.
    pub calls: Vec<WantedCall>,
    /// What the provider wants back unchanged with this answer, if anything.
    pub echo: Option<Value>,
    pub end: End,
    /// The provider's own figures; nought where it gave none.
    pub usage: ModelUsage,
    /// The model that answered, by the provider's word.
    pub model: String,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Done,
    CallsWanted,
    /// It was as long as it may be. The last call may be [unreadable](WantedCall::unreadable).
    MaxOutput,
    Refused,
}

/// What has come so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) calls: Vec<DraftCall>,
    pub(crate) usage: ModelUsage,
    pub(crate) model: Option<String>,
    pub(crate) end: Option<End>,
}

/// A call whose arguments are still being written.
#[derive(Debug, Default)]
pub(crate) struct DraftCall {
    /// Where the wire says it belongs.
    pub(crate) index: u64,
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) written: String,
}

impl Draft {
    pub(crate) fn call(&mut self, index: u64) -> Option<&mut DraftCall> {
        // The newest: who counts wrong begins again at nought.
        self.calls.iter_mut().rfind(|call| call.index == index)
    }

    pub(crate) fn finish(self, asked: &str, echo: Option<Value>) -> Reply {
        let Self { text, calls, usage, model, end } = self;
        let calls: Vec<WantedCall> =
            calls.into_iter().map(|call| WantedCall::read(call.id, call.tool, &call.written)).collect();
        let end = match end.unwrap_or(End::Done) {
            // What a provider says of its end does not always fit what it sent.
            End::Done | End::CallsWanted if calls.is_empty() => End::Done,
            End::Done | End::CallsWanted => End::CallsWanted,
            end @ (End::MaxOutput | End::Refused) => end,
        };
        Reply { text, calls, echo, end, usage, model: model.unwrap_or_else(|| asked.to_owned()) }
    }
}

/// What a provider wants back, with whom it came from: nobody else could read it.
pub(crate) fn echo(wire: Wire, model: &str, content: Vec<Value>) -> Value {
    let mut echo = json!({ "wire": wire.name(), "model": model });
    echo["content"] = content.into();
    echo
}

/// The content of an echo, if it came from this wire and model.
pub(crate) fn echoed<'a>(echo: Option<&'a Value>, wire: Wire, model: &str) -> Option<&'a [Value]> {
    let echo = echo.filter(|echo| echo["wire"] == wire.name() && echo["model"] == model)?;
    echo["content"].as_array().map(Vec::as_slice)
}
