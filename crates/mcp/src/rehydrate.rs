//! A session for somebody whose memory is gone: the step, what lies ahead, and what was noted, within a budget.

use std::fmt::Write as _;

use longhaul_runtime::types::{Handle, SessionId, StepView};
use longhaul_runtime::{Commands, Error, PlanState, Recap, tokens};
use serde_json::json;

use crate::desk::Desk;
use crate::refusal::Refusal;
use crate::reply::{Reply, object};
use crate::words::{self, Audience};

/// How many tokens an answer may have, its words and its object together.
const BUDGET_TOKENS: usize = 4_000;
/// What plan and notes have at least. The step itself is never cut: half a task is worse than none.
const LEAST_TOKENS: usize = 1_000;
/// How often the recap is told shorter, when marks and quotes around it took more room than was thought.
const MOST_TRIES: usize = 4;

/// By one of its handles.
pub(crate) fn by_handle(desk: &Desk, handle: &Handle) -> Result<Reply, Refusal> {
    let commands = desk.commands_for(handle.session)?;
    let view = desk.system().rehydrate(&commands, handle)?;
    Ok(reply(desk, &commands, &view, Audience::Outer)?)
}

/// Where a session stands.
pub(crate) fn by_id(desk: &Desk, id: SessionId, audience: Audience) -> Result<Reply, Error> {
    let commands = desk.commands_for(id)?;
    let view = desk.system().resume(&commands, id)?;
    reply(desk, &commands, &view, audience)
}

fn reply(desk: &Desk, commands: &Commands, view: &StepView, audience: Audience) -> Result<Reply, Error> {
    let bare = Reply::step(view.clone(), audience);
    let (Some(reader), Ok(id)) = (desk.reader()?, view.session_id.parse::<SessionId>()) else {
        return Ok(bare);
    };
    let budget = BUDGET_TOKENS.max(size(&bare) + LEAST_TOKENS);
    // All of it is told twice, for clients that pass on one of the two.
    let mut room = (budget - size(&bare)) / 2;
    let mut found = with_recap(view, &commands.recap(&reader, id, room)?, audience);
    for _ in 1..MOST_TRIES {
        if size(&found) <= budget {
            break;
        }
        room = room * 2 / 3;
        found = with_recap(view, &commands.recap(&reader, id, room)?, audience);
    }
    Ok(found)
}

fn size(reply: &Reply) -> usize {
    tokens(&reply.text) + tokens(&reply.value.to_string())
}

fn with_recap(view: &StepView, recap: &Recap, audience: Audience) -> Reply {
    let told = told(recap);
    let mut value = object(view, audience);
    value["plan"] = json!(recap.plan);
    value["recap"] = json!(told);
    let text = format!("{told}\n{}", words::step(view, audience));
    Reply { view: Some(view.clone()), ..Reply::new(text, &value) }
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
    if !recap.vars.is_empty() {
        let _ = writeln!(text, "\nVars:\n{}", recap.vars.join("\n"));
    }
    let ahead = recap.plan.iter().filter(|step| step.state == PlanState::Ahead);
    let ahead: Vec<String> = ahead.map(|step| format!("`{}` {}", step.id, step.title)).collect();
    if !ahead.is_empty() {
        let _ = writeln!(text, "\nAhead: {}", ahead.join(", "));
    }
    text
}
