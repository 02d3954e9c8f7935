//! `start_workflow`: pins a workflow and shows its first step.

use longhaul_runtime::NewWalk;
use serde_json::{Value, json};

use super::{Effect, Tool, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;

pub(super) const TOOL: Tool = Tool {
    name: "start_workflow",
    title: "Start a workflow",
    description: "Start a workflow and get its first step. Do exactly that step, then call continue_workflow with \
                  the continueToken of the answer; the next step is not known before. To go on with earlier work, \
                  call resume_session instead.",
    input,
    output: schema::step,
    effect: Effect::Records,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workflowId": { "type": "string" },
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "goal": { "type": "string", "description": "What the person wants, in their words." },
            "context": { "type": "object", "description": "Variables to begin with." },
            "modelTier": { "enum": ["light", "standard", "heavy"], "description": "The kind of model you are." }
        },
        "required": ["workflowId", "workspacePath", "goal"]
    })
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let system = desk.system_at(arguments.text("workspacePath")?)?;
    let tiers = [("light", ()), ("standard", ()), ("heavy", ())];
    // Which model an outer agent uses is not ours to say; the word is only kept from being misspelt.
    arguments.choice("modelTier", &tiers)?;
    let new = NewWalk {
        workflow: arguments.text("workflowId")?.to_owned(),
        goal: arguments.text("goal")?.to_owned(),
        vars: arguments.object("context")?,
    };
    if desk.existing()?.is_none() {
        // Looked up first, so that a name that nobody has makes no store.
        system.workflow_for_start(&new.workflow)?;
    }
    Ok(Reply::step(system.begin(&*desk.commands()?, new)?))
}
