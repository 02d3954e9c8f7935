//! How a run came out, in words and for scripts.

use std::process::ExitCode;

use longhaul_runtime::types::{Because, CallOutcome, NOTHING_CHANGED, Outcome, StepView};
use longhaul_runtime::{
    AgentDid, ChangedFile, Commands, Delivered, Drive, Error, Happened, StoryEntry, System, Telling,
    WaitsFor, outcome_of, terminal,
};
use serde::Serialize;

use crate::commands::hired::REHEARSAL;
use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::output::{Format, count, lines};
use crate::step;
use crate::usage::Usage;

/// The step view, and what a run has beside it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended<'a> {
    #[serde(flatten)]
    view: &'a StepView,
    outcome: &'a Outcome,
    #[serde(flatten)]
    usage: Option<Usage>,
    worktree: &'a str,
    branch: &'a str,
    changed_files: Vec<&'a str>,
    /// Where the change is, if it was delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered: Option<&'a Delivered>,
    /// How many calls were not let through, or could not be made as they were asked for.
    refused_calls: usize,
    agent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    rehearsal: bool,
    /// What is left of the cassette: it does not fit what was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    unplayed: Option<&'a str>,
}

pub(super) fn show(
    context: &Context,
    system: &System,
    commands: &Commands,
    drive: &Drive,
) -> Result<ExitCode, CliError> {
    let view = commands.session_view(drive.session)?;
    let reader = commands.reader().ok_or_else(|| Error::UnknownSession(drive.session))?;
    let row = reader.find_session(&drive.session.to_string())?;
    // A checkout that is gone has nothing to show, and that is no reason not to say how it ended.
    let changed = system.worktree_changes(drive.session).unwrap_or_default();
    let left = system.unplayed(commands, &row);
    let waits = reader.waits_for(&row)?;
    let recorded = outcome_of(&row).or_else(|| waits.as_ref().and_then(WaitsFor::outcome));
    let outcome = judged(recorded, &changed);
    let refused = refused_calls(&reader.story(&row, Telling::Events)?);
    let task = reader.find_task(&drive.session.to_string())?;
    let delivered = reader.delivered_of_task(&task)?;
    let usage = Usage::of_task(&row.driven, &task);
    let used = usage.as_ref().map(Usage::in_words).unwrap_or_default();
    // A rehearsal whose script does not fit proves nothing, however well the session came out.
    let is_refused = matches!(outcome, Outcome::Failed(_))
        || left.is_some()
        || waits.is_some_and(|waits| !waits.is_at_gate());
    let exit = if is_refused { ExitCode::from(REFUSED) } else { step::exit(&view) };
    if context.output.format() == Format::Json {
        let changed_files = changed.iter().map(|file| file.path.as_str()).collect();
        let (worktree, branch) = (drive.worktree.as_str(), drive.branch.as_str());
        let ended = Ended {
            view: &view,
            outcome: &outcome,
            usage,
            worktree,
            branch,
            changed_files,
            delivered: delivered.as_ref(),
            refused_calls: refused.len(),
            agent: row.driven.agent.as_deref().unwrap_or(&drive.agent),
            model: drive.model.as_deref(),
            rehearsal: drive.agent == REHEARSAL,
            unplayed: left.as_deref(),
        };
        context.output.text("", &ended)?;
        left.iter().for_each(|left| context.output.complain(left));
        return Ok(exit);
    }
    step::show(context, &view)?;
    let files: String = changed
        .iter()
        .map(|file| lines(&format!("{} {}", file.change, terminal::visible(&file.path)), "  "))
        .collect();
    let number = count(changed.len() as u64, "changed file");
    let told = [outcome.to_string(), used, format!("{number} in {} on {}", drive.worktree, drive.branch)];
    let delivery = delivered.as_ref().map(Delivered::in_words);
    let refusals = if changed.is_empty() { in_vain(drive, &refused) } else { None };
    let remarks = delivery.into_iter().chain(refusals).chain(left.map(|left| format!("error: {left}")));
    let told = told.into_iter().chain(remarks).map(|line| lines(&line, ""));
    let told: String = told.chain([files, next(drive, &changed, delivered.as_ref())]).collect();
    context.output.complain(told.trim_end());
    Ok(exit)
}

/// How to see what was changed, and to have it.
fn next(drive: &Drive, changed: &[ChangedFile], delivered: Option<&Delivered>) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let id = drive.session;
    let command = match delivered {
        Some(Delivered { merged: None, pull_request: None, branch: Some(branch), .. }) => {
            format!("git merge {branch}  # takes it over; `longhaul worktree diff {id}` shows what changed")
        }
        Some(_) => {
            format!("longhaul proof show {id}  # what was checked, on which files, and what came of it")
        }
        None => format!("longhaul worktree diff {id}  # what changed; `| git apply` takes it over"),
    };
    lines(&format!("next: {command}"), "  ")
}

/// The calls that came to nothing, each with what was said to it.
fn refused_calls(story: &[StoryEntry]) -> Vec<String> {
    let refused = story.iter().filter_map(|entry| {
        let Happened::Agent { act: AgentDid::CallFinished { tool, outcome, result, .. }, .. } = &entry.what
        else {
            return None;
        };
        (*outcome == CallOutcome::Refused).then(|| format!("`{tool}`: {}", result.trim()))
    });
    refused.collect()
}

/// Whoever finds nothing changed wants to know that it was tried.
fn in_vain(drive: &Drive, refused: &[String]) -> Option<String> {
    let last = refused.last()?.replace('\n', " ");
    let (number, id) = (count(refused.len() as u64, "call"), drive.session);
    let verb = if refused.len() == 1 { "was" } else { "were" };
    Some(format!("{number} {verb} refused, the last was {last}; `longhaul session show {id}` tells of each"))
}

/// What is on record, and what only shows when all of it is looked at. Empty work is never plain success.
fn judged(recorded: Option<Outcome>, changed: &[ChangedFile]) -> Outcome {
    match recorded {
        Some(Outcome::Completed { .. }) if changed.is_empty() => {
            Outcome::Completed { reason: Some(NOTHING_CHANGED) }
        }
        Some(outcome) => outcome,
        None => {
            let because = "it is not known how it came out; `longhaul session show` tells what happened";
            Outcome::Blocked(Because { reason: "unknown".to_owned(), because: because.to_owned() })
        }
    }
}
