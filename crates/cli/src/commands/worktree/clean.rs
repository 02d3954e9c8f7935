//! `longhaul worktree clean`: removes what nobody needs any more.

use std::process::ExitCode;

use longhaul_runtime::{Clean, CleanMode, CleanRow, CleanState, Unmerged, terminal};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Row, count};

/// Remove worktrees that are finished and merged; a dry run unless told otherwise.
///
/// What is not committed, not in the base branch (a squash counts) or not in a snapshot is not removed, unless you name it
/// and say `--discard`. Everything is snapshotted first, so `worktree restore` brings it back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this worktree, by its name or its session.
    name: Option<String>,

    /// Do it.
    #[arg(long)]
    apply: bool,

    /// Remove it although its work is not committed or not merged. All of it stays in a snapshot. A person's to say.
    #[arg(long, requires = "name")]
    discard: bool,
}

#[derive(Debug, Serialize)]
struct CleanedRow {
    name: String,
    state: &'static str,
    because: String,
    snapshot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    path: String,
}

impl CleanedRow {
    fn of(row: CleanRow) -> Self {
        Self {
            name: row.name,
            state: match row.state {
                CleanState::Removed => "removed",
                CleanState::WouldBeRemoved => "would be removed",
                CleanState::Kept => "kept",
                CleanState::Archived => "archived",
                CleanState::WouldBeArchived => "would be archived",
            },
            because: row.because,
            snapshot: row.snapshot,
            remedy: row.remedy,
            path: row.path.to_string_lossy().into_owned(),
        }
    }
}

impl Row for CleanedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("NAME", self.name.clone()), ("STATE", self.state.to_owned()), ("BECAUSE", self.because.clone())]
    }

    fn note(&self) -> Option<String> {
        self.remedy.clone()
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let mode = if args.apply { CleanMode::Apply } else { CleanMode::DryRun };
    let rows = match system.existing_commands()? {
        Some(commands) => {
            let unmerged = if args.discard { Unmerged::IsDiscarded } else { Unmerged::Stays };
            let (only, by) = (args.name.clone(), terminal::user_name());
            system.clean_worktrees(&commands, &Clean { only, mode, unmerged, by })?
        }
        None => Vec::new(),
    };
    let counted = |state: CleanState| rows.iter().filter(|row| row.state == state).count() as u64;
    let removed = counted(CleanState::Removed);
    let would = counted(CleanState::WouldBeRemoved) + counted(CleanState::WouldBeArchived);
    let rows: Vec<CleanedRow> = rows.into_iter().map(CleanedRow::of).collect();
    context.output.rows(&rows)?;
    match mode {
        CleanMode::Apply => context.output.say(&format!("{} removed", count(removed, "worktree"))),
        CleanMode::DryRun if would > 0 => {
            context.output.say("nothing was removed; the same with `--apply` does it");
        }
        CleanMode::DryRun => context.output.say("there is nothing to remove"),
    }
    Ok(ExitCode::SUCCESS)
}
