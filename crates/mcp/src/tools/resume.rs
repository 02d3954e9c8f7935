//! `resume_session`: finds the session that somebody wants to go on with.

use longhaul_runtime::{Ranked, ResumeQuery, clear_winner};
use serde_json::{Value, json};

use super::{Effect, Tool, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::rehydrate;
use crate::reply::Reply;

/// How many sessions are named when none is clearly meant.
const MOST_NAMED: usize = 10;

pub(super) const TOOL: Tool = Tool {
    name: "resume_session",
    title: "Resume a session",
    description: "Find earlier work and get its step, plan and recap, with the tokens to go on. By sessionId, by \
                  words from its goal or notes, or by where it began. When several fit they are listed.",
    input,
    output,
    effect: Effect::Reads,
    run,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "query": { "type": "string", "description": "Words from the goal or the notes, or a workflow id." },
            "sessionId": { "type": "string" },
            "gitBranch": { "type": "string" },
            "gitHeadSha": { "type": "string" }
        },
        "required": ["workspacePath"]
    })
}

fn output() -> Value {
    let text = json!({ "type": ["string", "null"] });
    let candidate = json!({
        "type": "object",
        "properties": {
            "sessionId": { "type": "string" },
            "workflowId": text, "stepId": text,
            "goal": { "type": "string" },
            "because": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["sessionId", "goal", "because"]
    });
    let mut step = schema::rehydrated();
    step["type"] = json!(["object", "null"]);
    let fields = json!({ "candidates": { "type": "array", "items": candidate }, "step": step });
    schema::with_error(fields, &["candidates", "step"])
}

fn run(desk: &Desk, arguments: &Arguments) -> Result<Reply, Refusal> {
    let text = arguments.optional_text("sessionId")?.or(arguments.optional_text("query")?);
    let query = ResumeQuery {
        text: text.map(str::to_owned),
        branch: arguments.optional_text("gitBranch")?.map(str::to_owned),
        commit: arguments.optional_text("gitHeadSha")?.map(str::to_owned),
    };
    let system = desk.system_at(arguments.text("workspacePath")?)?;
    let ranked = match desk.reader()? {
        Some(reader) => system.resumable(&reader, &query)?,
        None => Vec::new(),
    };
    let candidates: Value = ranked.iter().take(MOST_NAMED).map(candidate).collect();
    if let Some(winner) = clear_winner(&ranked) {
        let found = rehydrate::by_id(desk, winner.id)?;
        let value = json!({ "candidates": candidates, "step": found.value });
        return Ok(Reply { value, ..found });
    }
    let mut words = match ranked.len() {
        0 => "No session is open. Start one with `start_workflow`.\n".to_owned(),
        many => {
            format!("{many} sessions fit. Call `resume_session` again with the `sessionId` that is meant.\n")
        }
    };
    words.extend(ranked.iter().take(MOST_NAMED).map(line));
    Ok(Reply::new(words, &json!({ "candidates": candidates, "step": null })))
}

fn candidate(ranked: &Ranked) -> Value {
    json!({
        "sessionId": ranked.id, "workflowId": ranked.workflow, "stepId": ranked.step,
        "goal": ranked.goal, "because": ranked.because
    })
}

fn line(ranked: &Ranked) -> String {
    let workflow = ranked.workflow.as_deref().unwrap_or("-");
    let step = ranked.step.as_deref().unwrap_or("-");
    format!("- {} ({workflow}, at `{step}`): {}; {}\n", ranked.id, ranked.goal, ranked.because.join(", "))
}
