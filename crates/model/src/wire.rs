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
    use proptest::prelude::*;

    use super::*;

    /// Values made of the words of all wires, in any order.
    fn anything() -> impl Strategy<Value = Value> {
        let words = prop::sample::select(vec![
            "message_start",
            "content_block_start",
            "content_block_delta",
            "message_delta",
            "message_stop",
            "text_delta",
            "thinking_delta",
            "input_json_delta",
            "text",
            "tool_use",
            "thinking",
            "error",
            "response.output_item.added",
            "response.output_item.done",
            "response.function_call_arguments.delta",
            "response.completed",
            "response.failed",
            "function_call",
            "reasoning",
            "stop",
            "{\"a\":1}",
        ]);
        let names = prop::sample::select(vec![
            "type",
            "index",
            "output_index",
            "delta",
            "content_block",
            "message",
            "content",
            "text",
            "thinking",
            "partial_json",
            "usage",
            "input_tokens",
            "output_tokens",
            "choices",
            "tool_calls",
            "function",
            "arguments",
            "reasoning_details",
            "reasoning_content",
            "finish_reason",
            "item",
            "response",
            "output",
            "error",
            "code",
            "resets_at",
            "encrypted_content",
        ]);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            prop_oneof![0..3_u64, Just(u64::MAX)].prop_map(Value::from),
            words.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((names.clone(), inner), 0..5).prop_map(|fields| {
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(events in prop::collection::vec(anything(), 0..6)) {
            for wire in Wire::ALL {
                let mut reader = wire.reader("m");
                for event in &events {
                    let _ = reader.event(event, &mut |_| {});
                    let _ = reader.whole(event, &mut |_| {});
                    let _ = Failure::in_stream(event);
                }
                let reply = reader.finish();
                let said = crate::Message::Assistant { text: reply.text, calls: reply.calls, echo: reply.echo };
                let door = Door { socket: "s".into(), provider: "p".to_owned(), token: "t".to_owned() };
                let request =
                    Request { model: "m", system: &[], tools: &[], messages: &[said], max_output: 1 };
                prop_assert!(!wire.body(&door, &request).is_empty());
            }
        }
    }

    #[test]
    fn a_wire_is_known_by_its_name_only() {
        for wire in Wire::ALL {
            assert_eq!(wire.name().parse(), Ok(wire));
        }
        let problem = "openai".parse::<Wire>().unwrap_err().to_string();
        assert!(problem.contains("`openai-chat`"), "{problem}");
    }
}
