//! `longhaul worktree diff`: what a session has changed.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::process::ExitCode;

use longhaul_runtime::{ChangedFile, Error, terminal};
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
        let mut data = context.output.data();
        if stdout().is_terminal() {
            // What an agent wrote must not move the cursor; whoever applies it reads it from a pipe.
            data.write_all(shown(&patch).as_bytes()).map_err(Error::Show)?;
        } else {
            data.write_all(&patch).map_err(Error::Show)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// As a person may see it; line ends and tabs are as they were.
fn shown(patch: &[u8]) -> String {
    let text = String::from_utf8_lossy(patch);
    let parts = text.split_inclusive(['\n', '\t']).map(|part| match part.strip_suffix(['\n', '\t']) {
        Some(bare) => terminal::visible(bare) + &part[bare.len()..],
        None => terminal::visible(part),
    });
    parts.collect()
}
