//! `complete_step`: hands in the finished step and gets the next one.

use longhaul_core::handle::Handle;
use longhaul_core::workflow::answer::Answer;
use serde_json::{Map, Value, json};

use super::{Leaf, LeafAnswer, LeafEffect, LeafTool, text};
use crate::commands::walking::Advance;
use crate::error::Error;

const TOKEN: &str = "continueToken";

pub(super) const TOOL: LeafTool = LeafTool {
    name: "complete_step",
    title: "Complete the step",
    description: "Hand in the finished step and get the next one. The token says which step it is, so the same call \
                  again is safe.",
    input,
    effect: LeafEffect::RecordsOnce,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "continueToken": { "type": "string", "description": "From the step, whole." },
            "notes": { "type": "string", "description": "What you did and found, and how you know." },
            "artifacts": { "type": "array", "items": {}, "description": "Values that fit the step's contracts." },
            "context": { "type": "object", "description": "Variables that the step asks for." }
        },
        "required": ["continueToken"]
    })
}

fn run(leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<LeafAnswer, Error> {
    let handle: Handle = text(arguments, TOKEN)?.trim().parse()?;
    if handle.session != leaf.session {
        return Err(Error::ForgedHandle(leaf.session));
    }
    let fields = arguments.iter().filter(|(name, _)| *name != TOKEN);
    let payload: Map<String, Value> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    let answer = Answer::from_payload(&Value::Object(payload)).map_err(Error::BadAnswer)?;
    let advance = Advance { handle, answer, epoch: None };
    Ok(LeafAnswer::Step(Box::new(leaf.system.advance(leaf.commands, &advance)?)))
}
