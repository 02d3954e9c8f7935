//! What a model is asked.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::wire::Wire;

/// The gateway of a session, and whom it is to ask.
#[derive(Clone, PartialEq, Eq)]
pub struct Door {
    pub socket: PathBuf,
    /// The name under which the gateway knows the provider.
    pub provider: String,
    /// What the session shows; the gateway puts the real key in its place.
    pub token: String,
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Door");
        shown.field("socket", &self.socket).field("provider", &self.provider).finish_non_exhaustive()
    }
}

/// One request. Whoever makes the next one from it only adds messages, and caches hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request<'a> {
    pub model: &'a str,
    pub system: &'a [Layer],
    pub tools: &'a [ToolSpec],
    pub messages: &'a [Message],
    /// How many tokens may come back.
    pub max_output: u64,
}

impl Request<'_> {
    /// How long it is as it will be sent, for whoever wants to know beforehand what it costs.
    pub fn bytes(&self, door: &Door, wire: Wire) -> u64 {
        u64::try_from(wire.body(door, self).len()).unwrap_or(u64::MAX)
    }
}

/// A part of what a model is told before the conversation. Stable ones come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub text: String,
    /// It is the same in every request of the session.
    pub is_stable: bool,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub input: Value,
}

/// A part of the conversation so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    User(String),
    Assistant {
        text: String,
        calls: Vec<WantedCall>,
        /// As it came in the [`Reply`](crate::Reply). Only the wire and the model that it came from get it back.
        echo: Option<Value>,
    },
    /// What came of the calls of the message before: of each of them.
    Results(Vec<CallResult>),
}

/// A call that a model wants made.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedCall {
    pub id: String,
    pub tool: String,
    /// If what came was no JSON object, [`WantedCall::unreadable`] says so.
    pub arguments: Map<String, Value>,
}

/// What a model wrote where a JSON object was wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable<'a> {
    pub text: &'a str,
    pub problem: &'a str,
}

/// No schema of ours has such names, so that nobody takes it for arguments.
const UNREADABLE_TEXT: &str = "$unreadable";
const UNREADABLE_PROBLEM: &str = "$problem";

impl WantedCall {
    /// The call with its arguments as they were written, which may be anything.
    pub(crate) fn read(id: String, tool: String, written: &str) -> Self {
        // A tool without arguments may be called with nothing at all.
        let read = if written.trim().is_empty() { Ok(Map::new()) } else { serde_json::from_str(written) };
        let arguments = read.unwrap_or_else(|error| {
            let told = [(UNREADABLE_TEXT, written.to_owned()), (UNREADABLE_PROBLEM, error.to_string())];
            told.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
        });
        Self { id, tool, arguments }
    }

    /// Says that the arguments were no JSON object, if so: the call cannot be made, and the model is to be told why.
    pub fn unreadable(&self) -> Option<Unreadable<'_>> {
        let text = self.arguments.get(UNREADABLE_TEXT)?.as_str()?;
        let problem = self.arguments.get(UNREADABLE_PROBLEM)?.as_str()?;
        Some(Unreadable { text, problem })
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// The one of the call.
    pub id: String,
    pub text: String,
    pub is_error: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_are_no_object_are_kept_and_marked() {
        let read = |written| WantedCall::read("c".to_owned(), "look".to_owned(), written);
        assert_eq!(Value::Object(read(r#"{"at":7}"#).arguments), json!({ "at": 7 }));
        assert_eq!((read("").arguments, read(" ").unreadable()), (Map::new(), None));
        for written in [r#"{"at":"#, "[1]", "look at 7", "{} {}"] {
            let call = read(written);
            assert_eq!(call.unreadable().map(|found| found.text), Some(written));
            assert!(!call.unreadable().unwrap().problem.is_empty());
        }
    }

    #[test]
    fn the_token_is_not_shown_by_accident() {
        let door =
            Door { socket: "s".into(), provider: "anthropic".to_owned(), token: "lh-secret".to_owned() };
        assert!(!format!("{door:?}").contains("lh-secret"));
    }
}
