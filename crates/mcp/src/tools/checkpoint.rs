//! `checkpoint_workflow`: keeps notes and vars from the middle of a step.

use longhaul_runtime::Checkpoint;
use longhaul_runtime::types::StepView;
use serde_json::{Value, json};

use super::r#continue::handle;
use super::{Effect, Tool, as_it_is, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::words::Audience;

pub(super) const TOOL: Tool = Tool {
    name: "checkpoint_workflow",
    title: "Keep notes on the way",
    description: "Keep notes and variables of a step that is not finished, so that they survive a lost context. \
                  Advances nothing. Use it in long steps.",
    input,
    output: schema::step,
    effect: Effect::RecordsOnce,
    run,
    wrap: as_it_is,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "checkpointToken": { "type": "string", "description": "From the answer that gave the step." },
            "notesMarkdown": { "type": "string", "description": "What you found so far." },
            "notes": { "type": "string", "description": "Same as notesMarkdown." },
            "context": { "type": "object", "description": "Variables found so far." },
            "vars": { "type": "object", "description": "Same as context." }
        },
        "required": ["checkpointToken"]
    })
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let token = handle(arguments.text("checkpointToken")?)?;
    let notes = match (arguments.optional_text("notesMarkdown")?, arguments.optional_text("notes")?) {
        (Some(_), Some(_)) => {
            return Err(Refusal::bad("`notesMarkdown` and `notes` say the same thing twice; leave one out"));
        }
        (Some(notes), None) | (None, Some(notes)) => notes.to_owned(),
        (None, None) => String::new(),
    };
    let vars = arguments.vars()?;
    if notes.trim().is_empty() && vars.is_empty() {
        return Err(Refusal::bad("there is nothing to keep; give `notesMarkdown`, `context` or both"));
    }
    let commands = desk.commands_for(token.session)?;
    let id = commands.checkpoint(&Checkpoint { token, notes, vars })?;
    // The prompt was told when the step was; what is needed now are the handles.
    let view = StepView { prompt: None, ..commands.session_view(id)? };
    let reply = Reply::step(view, Audience::Outer);
    Ok(Reply { text: format!("The notes are kept; nothing else changed.\n{}", reply.text), ..reply })
}
