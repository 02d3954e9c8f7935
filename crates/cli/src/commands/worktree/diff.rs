//! `longhaul worktree diff`: what a session has changed.

use std::io::Write as _;
use std::process::ExitCode;

use longhaul_runtime::{ChangedFile, Error};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Format, Row};

/// Show what differs from the base in a worktree, untracked files among it.
///
/// A patch; with `--json` or `--files` the names of the files only.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worktree, or its session; without it, the worktree that the current folder is in.
    name: Option<String>,

    /// Names instead of a patch.
    #[arg(long)]
    files: bool,
}

#[derive(Debug, Serialize)]
struct FileRow {
    change: &'static str,
    path: String,
}

impl Row for FileRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("CHANGE", self.change.to_owned()), ("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let session = system.worktree_session(args.name.as_deref())?;
    if args.files || context.output.format() == Format::Json {
        let row = |file: ChangedFile| FileRow { change: file.change, path: file.path };
        let rows: Vec<FileRow> = system.worktree_changes(session)?.into_iter().map(row).collect();
        context.output.rows(&rows)?;
    } else {
        let patch = system.worktree_patch(session)?;
        context.output.data().write_all(&patch).map_err(Error::Show)?;
    }
    Ok(ExitCode::SUCCESS)
}
