//! The protocols in which models are asked.

mod anthropic;
mod chat;
mod responses;
mod shared;

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use crate::ask::Piece;
use crate::draft::Reply;
use crate::failure::Failure;
use crate::request::{Door, Request};

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    AnthropicMessages,
    OpenAiChat,
    OpenAiResponses,
}

/// There is no such wire.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no wire; there are `anthropic`, `openai-chat` and `openai-responses`")]
pub struct UnknownWire(pub String);

impl Wire {
    pub const ALL: [Self; 3] = [Self::AnthropicMessages, Self::OpenAiChat, Self::OpenAiResponses];

    pub const fn name(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    /// Where it is asked, below the base address of a provider as its own programs write that: with the version for the
    /// one wire that leaves it out.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "v1/messages",
            Self::OpenAiChat => "chat/completions",
            Self::OpenAiResponses => "responses",
        }
    }

    /// What is sent: the same bytes for the same request, and what is new at the end.
    pub(crate) fn body(self, door: &Door, request: &Request<'_>) -> Vec<u8> {
        let body = match self {
            Self::AnthropicMessages => anthropic::body(request),
            Self::OpenAiChat => chat::body(door, request),
            Self::OpenAiResponses => responses::body(door, request),
        };
        body.to_string().into_bytes()
    }

    pub(crate) fn reader(self, model: &str) -> Box<dyn Reader> {
        match self {
            Self::AnthropicMessages => Box::new(anthropic::Reader::new(model)),
            Self::OpenAiChat => Box::new(chat::Reader::new(model)),
            Self::OpenAiResponses => Box::new(responses::Reader::new(model)),
        }
    }
}

/// Reads an answer of one wire.
pub(crate) trait Reader {
    /// Takes an event of a stream.
    fn event(&mut self, event: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<Flow, Failure>;

    /// Takes an answer that came in one piece, as some servers send it all the same.
    fn whole(&mut self, answer: &Value, tell: &mut dyn FnMut(Piece<'_>)) -> Result<(), Failure>;

    /// Whether a stream may end here without having said that it does.
    fn may_end(&self) -> bool;

    fn finish(self: Box<Self>) -> Reply;
}

/// What is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    GoesOn,
    /// Only to show that somebody is there.
    IsAlive,
    IsOver,
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Wire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        Self::ALL.into_iter().find(|wire| wire.name() == name).ok_or_else(|| UnknownWire(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_is_known_by_its_name_only() {
        for wire in Wire::ALL {
            assert_eq!(wire.name().parse(), Ok(wire));
        }
        let problem = "openai".parse::<Wire>().unwrap_err().to_string();
        assert!(problem.contains("`openai-chat`"), "{problem}");
    }
}
