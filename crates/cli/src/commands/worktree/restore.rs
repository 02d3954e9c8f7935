//! `longhaul worktree restore`: brings a snapshot back.

use std::process::ExitCode;

use longhaul_runtime::KeptRow;
use serde::Serialize;

use super::short;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Bring the files of a snapshot back; without one, list the snapshots.
///
/// What is there is kept in a snapshot first. Branch and commits stay as they are. A worktree that was removed is made
/// again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The snapshot, or the beginning of its id.
    snapshot: Option<String>,

    /// The worktree, or its session; without it, the one that the snapshot is of, or that the current folder is in.
    #[arg(long, value_name = "NAME|SESSION")]
    worktree: Option<String>,
}

#[derive(Debug, Serialize)]
struct SnapshotRow {
    snapshot: String,
    at: String,
    because: String,
}

impl Row for SnapshotRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("SNAPSHOT", short(&self.snapshot)), ("AT", self.at.clone()), ("BECAUSE", self.because.clone())]
    }
}

#[derive(Debug, Serialize)]
struct RestoredRow {
    name: String,
    session: String,
    snapshot: String,
    before: Option<String>,
    path: String,
}

impl Row for RestoredRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("NAME", self.name.clone()),
            ("SNAPSHOT", short(&self.snapshot)),
            ("BEFORE", self.before.as_deref().map_or_else(|| "-".to_owned(), short)),
            ("PATH", self.path.clone()),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let session = match (&args.snapshot, &args.worktree) {
        (Some(snapshot), None) => system.snapshot_session(snapshot)?,
        (_, worktree) => system.worktree_session(worktree.as_deref())?,
    };
    let Some(snapshot) = &args.snapshot else {
        let row = |KeptRow { snapshot, at, because }| SnapshotRow { snapshot, at, because };
        let rows: Vec<SnapshotRow> = system.worktree_snapshots(session)?.into_iter().map(row).collect();
        context.output.rows(&rows)?;
        if rows.is_empty() {
            context
                .output
                .say("there is no snapshot yet; one is taken when a step ends and before a clean-up");
        }
        return Ok(ExitCode::SUCCESS);
    };
    let restored = system.restore_worktree(&system.commands()?, session, snapshot)?;
    let back = restored.before.as_deref().map(short);
    context.output.row(RestoredRow {
        name: restored.name,
        session: restored.session.to_string(),
        snapshot: restored.snapshot,
        before: restored.before,
        path: restored.path,
    })?;
    if let Some(back) = back {
        context.output.say(&format!("what was there is in snapshot {back}"));
    }
    Ok(ExitCode::SUCCESS)
}
