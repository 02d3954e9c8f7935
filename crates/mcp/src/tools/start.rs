//! `start_workflow`: pins a workflow and shows its first step.

use longhaul_runtime::types::TaskSource as Source;
use longhaul_runtime::{NewWalk, TaskOrigin, TaskWish};
use serde_json::{Value, json};

use super::{Effect, Tool, as_it_is, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::words::Audience;

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
    wrap: as_it_is,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workflowId": { "type": "string" },
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "goal": { "type": "string", "description": "What the person wants, in their words." },
            "context": { "type": "object", "description": "Variables to begin with." },
            "vars": { "type": "object", "description": "Same as context." },
            "modelTier": { "enum": ["light", "standard", "heavy", "lightweight", "mid"], "description": "The kind of model you are; not used yet." }
        },
        "required": ["workflowId", "workspacePath", "goal"]
    })
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let system = desk.system_at(arguments.name("workspacePath")?)?;
    // WorkRail has other words for two of them.
    let tiers = [("light", ()), ("standard", ()), ("heavy", ()), ("lightweight", ()), ("mid", ())];
    let tier = arguments.choice("modelTier", &tiers)?;
    let new = NewWalk {
        workflow: arguments.name("workflowId")?.to_owned(),
        goal: arguments.text("goal")?.to_owned(),
        vars: arguments.vars()?,
    };
    if desk.existing()?.is_none() {
        // Looked up first, so that a name that nobody has makes no store.
        system.workflow_for_start(&new.workflow)?;
    }
    let mut view = system.begin_for(&*desk.commands()?, new, &TaskWish::New(TaskOrigin::of(Source::MCP)))?;
    if tier.is_some() {
        view.warnings
            .push("`modelTier` was not used: which model works on a step is not decided here yet".to_owned());
    }
    Ok(Reply::step(view, Audience::Outer))
}
