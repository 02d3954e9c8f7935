//! `resume_session`: finds the session that somebody wants to go on with.

use longhaul_runtime::{Error, Ranked, ResumeQuery, clear_winner};
use serde_json::{Value, json};

use super::{Effect, Tool, schema};
use crate::arguments::Arguments;
use crate::desk::Desk;
use crate::name;
use crate::refusal::Refusal;
use crate::rehydrate;
use crate::reply::Reply;
use crate::words::Audience;

/// How many sessions are named when none is clearly meant.
const MOST_NAMED: usize = 10;

pub(super) const TOOL: Tool = Tool {
    name: "resume_session",
    title: "Resume a session",
    description: "Find earlier work and get its step, plan and recap, with the tokens to go on. By sessionId, by \
                  words from its goal or notes, or by where it began. When several fit they are listed.",
    input,
    output,
    // It notices gates whose time is over, has a runner look after work, and may ask a person.
    effect: Effect::RecordsOnce,
    run,
    wrap,
};

fn input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "workspacePath": { "type": "string", "description": "Absolute path of the folder you work in." },
            "query": { "type": "string", "description": "Words from the goal or the notes, or a workflow id." },
            "sessionId": { "type": "string", "description": "Or the beginning of one." },
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
    let (id, words) = (arguments.optional_text("sessionId")?, arguments.optional_text("query")?);
    if id.is_some() && words.is_some() {
        return Err(Refusal::bad(
            "`sessionId` says which session it is, so there is nothing to look for; leave out `query`",
        ));
    }
    let system = desk.system_at(arguments.name("workspacePath")?)?;
    let query = ResumeQuery {
        text: words.map(str::to_owned),
        branch: arguments.optional_text("gitBranch")?.map(str::to_owned),
        commit: arguments.optional_text("gitHeadSha")?.map(str::to_owned),
    };
    let reader = desk.reader()?;
    if let Some(id) = id {
        let reader = reader.ok_or_else(|| Error::NoSuchSession(id.to_owned()))?;
        return Ok(rehydrate::by_id(desk, reader.find_session(id.trim())?.id, Audience::Outer)?);
    }
    let ranked = match reader {
        Some(reader) => system.resumable(&reader, &query)?,
        None => Vec::new(),
    };
    let candidates: Value = ranked.iter().take(MOST_NAMED).map(candidate).collect();
    // The only session that is open may be about something else, in another place.
    if let Some(winner) = clear_winner(&ranked).filter(|winner| winner.is_near()) {
        let found = rehydrate::by_id(desk, winner.id, Audience::Outer)?;
        return Ok(Reply { candidates: Some(candidates), ..found });
    }
    let mut words = match ranked.len() {
        0 => "No session is open. Start one with `start_workflow`.\n".to_owned(),
        1 => "One session is open, and it did not begin here. If it is meant, call `resume_session` with its `sessionId`.\n"
            .to_owned(),
        many => {
            format!("{many} sessions fit. Call `resume_session` again with the `sessionId` that is meant.\n")
        }
    };
    words.extend(ranked.iter().take(MOST_NAMED).map(line));
    Ok(Reply { candidates: Some(candidates), ..Reply::new(words, &Value::Null) })
}

/// The step, if one was found, beside what else was; an error stays on top.
fn wrap(mut reply: Reply) -> Reply {
    let error = reply.value.as_object_mut().and_then(|fields| fields.shift_remove("error"));
    let is_step = reply.value.get("sessionId").is_some();
    let step = if is_step { reply.value.take() } else { Value::Null };
    let candidates = reply.candidates.take().unwrap_or_else(|| json!([]));
    reply.value = json!({ "candidates": candidates, "step": step });
    if let Some(error) = error {
        reply.value["error"] = error;
    }
    reply
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
    let goal = name::shown(&ranked.goal);
    let line = format!("- {} ({workflow}, at `{step}`): {goal}; {}", ranked.id, ranked.because.join(", "));
    name::one_line(&line) + "\n"
}
