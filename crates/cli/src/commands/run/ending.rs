//! How a run came out, in words and for scripts.

use std::process::ExitCode;

use longhaul_runtime::types::{Because, NOTHING_CHANGED, Outcome, StepView};
use longhaul_runtime::{ChangedFile, Commands, Drive, Error, System, outcome_of};
use serde::Serialize;

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
    rehearsal: bool,
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
    let left = system.rehearsal_end(commands, drive.session)?.filter(|_| view.is_complete);
    let outcome = judged(outcome_of(&row), left.clone(), &changed);
    let usage = Usage::of(&row.driven);
    let used = usage.as_ref().map(Usage::in_words).unwrap_or_default();
    let exit = match &outcome {
        Outcome::Failed(_) => ExitCode::from(REFUSED),
        Outcome::Completed { .. }
        | Outcome::Blocked(_)
        | Outcome::Parked(_)
        | Outcome::CouldNot(_)
        | Outcome::Cancelled { .. } => step::exit(&view),
    };
    if context.output.format() == Format::Json {
        let changed_files = changed.iter().map(|file| file.path.as_str()).collect();
        let (worktree, branch) = (drive.worktree.as_str(), drive.branch.as_str());
        let view = &view;
        let ended =
            Ended { view, outcome: &outcome, usage, worktree, branch, changed_files, rehearsal: true };
        context.output.text("", &ended)?;
        left.iter().for_each(|left| context.output.complain(left));
        return Ok(exit);
    }
    step::show(context, &view)?;
    let files: String =
        changed.iter().map(|file| lines(&format!("{} {}", file.change, file.path), "  ")).collect();
    let number = count(changed.len() as u64, "changed file");
    let told = [outcome.to_string(), used, format!("{number} in {} on {}", drive.worktree, drive.branch)];
    let told: String =
        told.iter().map(|line| lines(line, "")).chain([files, next(drive, &changed)]).collect();
    context.output.complain(told.trim_end());
    Ok(exit)
}

/// How to see what was changed, and to have it.
fn next(drive: &Drive, changed: &[ChangedFile]) -> String {
    if changed.is_empty() {
        return String::new();
    }
    let id = drive.session;
    lines(&format!("next: longhaul worktree diff {id}  # what changed; `| git apply` takes it over"), "  ")
}

/// What is on record, and what only shows when all of it is looked at. Empty work is never plain success.
fn judged(recorded: Option<Outcome>, left: Option<String>, changed: &[ChangedFile]) -> Outcome {
    match (recorded, left) {
        (Some(Outcome::Completed { .. }), Some(left)) => {
            Outcome::Failed(Because { reason: "cassette".to_owned(), because: left })
        }
        (Some(Outcome::Completed { .. }), None) if changed.is_empty() => {
            Outcome::Completed { reason: Some(NOTHING_CHANGED) }
        }
        (Some(outcome), _) => outcome,
        (None, _) => {
            let because = "it is not known how it came out; `longhaul session show` tells what happened";
            Outcome::Blocked(Because { reason: "unknown".to_owned(), because: because.to_owned() })
        }
    }
}
