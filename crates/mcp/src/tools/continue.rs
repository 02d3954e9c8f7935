//! `continue_workflow`: answers a step, or takes a session up again.

use longhaul_runtime::types::{Answer, Handle};
use longhaul_runtime::{Advance, Error};
use serde_json::{Value, json};

use super::{Effect, Tool, as_it_is, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::rehydrate;
use crate::reply::Reply;
use crate::words::Audience;

pub(super) const TOOL: Tool = Tool {
    name: "continue_workflow",
    title: "Continue a workflow",
    description: "Hand in the finished step and get the next one (intent advance, implied by output), or get the \
                  step, plan and recap again after losing context (intent rehydrate, implied when only the token is \
                  given). Use the newest continueToken. The same call again is safe and gets the same answer. When a \
                  gate is shown, stop and tell the person.",
    input,
    output: schema::rehydrated,
    effect: Effect::RecordsOnce,
    run,
    wrap: as_it_is,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intent {
    Advance,
    Rehydrate,
}

/// What stands for an answer when it is there.
const ANSWER: [&str; 7] =
    ["output", "notes", "notesMarkdown", "artifacts", "context", "vars", "contextVariables"];

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "continueToken": { "type": "string", "description": "From the last answer, whole." },
            "intent": { "enum": ["advance", "rehydrate"] },
            "context": { "type": "object", "description": "Variables that the step asks for." },
            "output": {
                "type": "object",
                "properties": {
                    "notesMarkdown": { "type": "string", "description": "What you did and found, and how you know." },
                    "artifacts": { "type": "array", "items": any(), "description": "Values that fit the step's contracts." }
                }
            },
            "notes": { "type": "string", "description": "Same as output.notesMarkdown." },
            "notesMarkdown": { "type": "string", "description": "Same as output.notesMarkdown." },
            "artifacts": { "type": "array", "items": any(), "description": "Same as output.artifacts." },
            "contextVariables": { "type": "object", "description": "Same as context." },
            "vars": { "type": "object", "description": "Same as context." },
            "workspacePath": { "type": "string" }
        },
        "required": ["continueToken"]
    })
}

/// Some clients take a schema that says nothing for a mistake.
fn any() -> Value {
    json!({ "description": "Any value." })
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let handle = handle(arguments.text("continueToken")?)?;
    let given =
        arguments.choice("intent", &[("advance", Intent::Advance), ("rehydrate", Intent::Rehydrate)])?;
    let has_answer = ANSWER.iter().any(|name| arguments.has(name));
    match given.unwrap_or(if has_answer { Intent::Advance } else { Intent::Rehydrate }) {
        Intent::Rehydrate if has_answer => Err(Refusal::bad(
            "`intent: rehydrate` takes nothing but the token; leave out what you hand in, or say `intent: advance`",
        )),
        Intent::Rehydrate => rehydrate::by_handle(desk, &handle),
        Intent::Advance => {
            let answer = answer(arguments)?;
            let commands = desk.commands_for(handle.session)?;
            let advance = Advance { handle, answer, epoch: None };
            Ok(Reply::step(desk.system().advance(&commands, &advance)?, Audience::Outer))
        }
    }
}

fn answer(arguments: &Arguments) -> Result<Answer, Refusal> {
    let mut fields = arguments.without(&["continueToken", "intent", "workspacePath"]);
    if let Some(vars) = fields.shift_remove("contextVariables")
        && fields.insert("vars".to_owned(), vars).is_some()
    {
        return Err(Refusal::bad("`vars` and `contextVariables` say the same thing twice; leave one out"));
    }
    Ok(Answer::from_payload(&Value::Object(fields)).map_err(Error::BadAnswer)?)
}

pub(super) fn handle(text: &str) -> Result<Handle, Refusal> {
    Ok(text.trim().parse::<Handle>().map_err(Error::from)?)
}
