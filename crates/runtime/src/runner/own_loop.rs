//! Our own loop as an agent of a session: a model behind its gateway, and the tools that it is told of.

use longhaul_agent::{ModelFacts, OwnLoop, RemoteMind, Telling, tools};
use longhaul_core::conversation::COMPLETE_STEP;
use longhaul_core::roster::{Definition, Wire as RosterWire};
use longhaul_core::transcript::Layers;
use longhaul_model::{Door, ToolSpec, Wire};
use serde_json::Value;

use super::office::GatewayDoor;
use crate::leaf;

/// What is thought of a model that nobody knows anything about.
const UNKNOWN_WINDOW: u64 = 32_000;
const UNKNOWN_OUTPUT: u64 = 8_000;

const COMPLETE_WORDS: &str = "Hand in the finished step. If it is accepted, the next step comes as the next message; if not, \
     the answer says what is missing.";

/// Somebody who asks the model of a definition.
pub(super) fn own_loop(
    definition: &Definition,
    wire: RosterWire,
    door: &GatewayDoor,
    layers: Layers,
) -> OwnLoop<RemoteMind> {
    let door = Door {
        socket: door.socket.clone(),
        provider: definition.provider.clone().unwrap_or_default(),
        token: door.token.reveal().to_owned(),
    };
    let window = definition.window.unwrap_or(UNKNOWN_WINDOW);
    let model = ModelFacts {
        name: definition.model.clone().unwrap_or_default(),
        window,
        max_output: definition.max_output.unwrap_or(UNKNOWN_OUTPUT).min(window / 2),
        pricing: definition.pricing,
    };
    let mind = RemoteMind { door, wire: spoken(wire) };
    OwnLoop::new(mind, model, Telling { layers, tools: told_tools() })
}

const fn spoken(wire: RosterWire) -> Wire {
    match wire {
        RosterWire::AnthropicMessages => Wire::AnthropicMessages,
        RosterWire::OpenAiChat => Wire::OpenAiChat,
        RosterWire::OpenAiResponses => Wire::OpenAiResponses,
    }
}

/// All tools, always in the same order.
fn told_tools() -> Vec<ToolSpec> {
    let files = tools::TOOLS.into_iter().map(|tool| ToolSpec {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        input: (tool.input)(),
    });
    let leaves = leaf::TOOLS.iter().map(|tool| match tool.name {
        COMPLETE_STEP => complete_step((tool.input)()),
        name => ToolSpec {
            name: name.to_owned(),
            description: tool.description.to_owned(),
            input: (tool.input)(),
        },
    });
    files.chain(leaves).collect()
}

/// We know which step is out, so there is no token to give; and the same field has one name.
fn complete_step(mut input: Value) -> ToolSpec {
    if let Some(fields) = input["properties"].as_object_mut() {
        fields.shift_remove("continueToken");
        fields.shift_remove("context");
    }
    ToolSpec { name: COMPLETE_STEP.to_owned(), description: COMPLETE_WORDS.to_owned(), input }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_is_told_of_every_tool_once_and_of_no_token() {
        let tools = told_tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), tools::TOOLS.len() + leaf::TOOLS.len());
        assert!(names.starts_with(&["read", "write"]) && names.contains(&"note_fact"), "{names:?}");
        let complete = tools.iter().find(|tool| tool.name == COMPLETE_STEP).unwrap();
        let fields: Vec<&String> = complete.input["properties"].as_object().unwrap().keys().collect();
        assert_eq!(json!(fields), json!(["notes", "artifacts", "vars"]));
        assert!(tools.iter().all(|tool| tool.input["type"] == "object"));
    }
}
