//! A session for somebody whose memory is gone: the step, what lies ahead, and what was noted, within a budget.

use std::fmt::Write as _;

use longhaul_runtime::types::{Handle, SessionId, StepView};
use longhaul_runtime::{Commands, Error, PlanState, Recap, TOKEN_BYTES};
use serde_json::json;

use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::Reply;
use crate::words;

/// How many tokens all of it may have.
const BUDGET_TOKENS: usize = 4_000;
/// What plan and notes have at least. The step itself is never cut: half a task is worse than none.
const LEAST_TOKENS: usize = 1_000;

/// By one of its handles. One of an older step gets that step, under a fresh handle, and is told so.
pub(crate) fn by_handle(desk: &Desk, handle: &Handle) -> Result<Reply, Refusal> {
    let commands = desk.commands_for(handle.session)?;
    let view = desk.system().rehydrate(&commands, handle)?;
    Ok(reply(desk, &commands, view)?)
}

/// Where a session stands.
pub(crate) fn by_id(desk: &Desk, id: SessionId) -> Result<Reply, Refusal> {
    let commands = desk.commands_for(id)?;
    let view = desk.system().resume(&commands, id)?;
    Ok(reply(desk, &commands, view)?)
}

fn reply(desk: &Desk, commands: &Commands, view: StepView) -> Result<Reply, Error> {
    let recap = recap(desk, commands, &view)?;
    let plan = recap.as_ref().map(|recap| &recap.plan);
    let told = recap.as_ref().map(told);
    let mut value = serde_json::to_value(&view).expect("a view has string keys only");
    value["plan"] = json!(plan);
    value["recap"] = json!(told);
    let mut text = words::step(&view);
    text = format!("{}\n{text}", told.unwrap_or_default());
    Ok(Reply { text, value, view: Some(view), is_error: false })
}

fn recap(desk: &Desk, commands: &Commands, view: &StepView) -> Result<Option<Recap>, Error> {
    let Some(reader) = desk.reader()? else { return Ok(None) };
    let Ok(id) = view.session_id.parse::<SessionId>() else { return Ok(None) };
    let used = view.prompt.as_ref().map_or(0, String::len);
    let room = (BUDGET_TOKENS * TOKEN_BYTES).saturating_sub(used).max(LEAST_TOKENS * TOKEN_BYTES);
    commands.recap(&reader, id, room).map(Some)
}

fn told(recap: &Recap) -> String {
    let mut text = format!("Goal: {}\n", recap.goal);
    if !recap.notes.is_empty() {
        text += "\nSo far:\n";
        if recap.left_out > 0 {
            let _ =
                writeln!(text, "({} older notes are left out; the session's story has them)", recap.left_out);
        }
        text += &recap.notes;
        text.push('\n');
    }
    let ahead = recap.plan.iter().filter(|step| step.state == PlanState::Ahead);
    let ahead: Vec<String> = ahead.map(|step| format!("`{}` {}", step.id, step.title)).collect();
    if !ahead.is_empty() {
        let _ = writeln!(text, "\nAhead: {}", ahead.join(", "));
    }
    text
}
