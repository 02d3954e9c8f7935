//! `spawn`: asks a worker one question, and waits for an answer of the shape that is wanted.

use longhaul_core::workflow::ModelTier;
use serde_json::{Map, Value, json};

use super::{Effect, Leaf, Told, Tool, text};
use crate::error::Error;
use crate::gateway::Driven;
use crate::workers::{Question, not_driven};

pub(super) const TOOL: Tool = Tool {
    name: "spawn",
    title: "Ask a worker",
    description: "Ask another agent one question about this checkout, and get an answer that fits your JSON Schema. It \
                  starts with nothing but the question, reads the files as they are now and changes none. Use it for what \
                  needs much reading and has a short answer. Several calls of one turn run side by side; a task has at \
                  most 10 workers.",
    input: || {
        json!({
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "All that the worker needs to know." },
                "answer": { "type": "object", "description": "The JSON Schema of the answer, with `type: object`." },
                "tier": { "enum": TIERS.map(ModelTier::word), "description": "How strong a model; the same as yours unless given." }
            },
            "required": ["question", "answer"]
        })
    },
    effect: Effect::Records,
    run,
};

const TIERS: [ModelTier; 3] = [ModelTier::Light, ModelTier::Standard, ModelTier::Heavy];

fn run(leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<Told, Error> {
    let Some(driver) = leaf.driver else { return Err(not_driven()) };
    let wanted = text(arguments, "tier");
    let question = Question {
        text: text(arguments, "question").to_owned(),
        schema: arguments.get("answer").cloned().unwrap_or_default(),
        tier: TIERS.into_iter().find(|tier| tier.word() == wanted),
    };
    let asker = Driven { session: leaf.session, driver };
    let answer = leaf.system.ask_worker(leaf.commands, asker, &question)?;
    Ok(Told::Said { words: answer.to_string(), value: json!({ "answer": answer }) })
}
