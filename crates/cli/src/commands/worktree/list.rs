//! `longhaul worktree list`: the worktrees of a repository.

use std::process::ExitCode;

use longhaul_runtime::WorktreeRow;
use serde::Serialize;

use super::info::word;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// List the worktrees of this repository.
///
/// ORPHAN says why nobody is responsible for one: `path missing`, `husk` (a folder without `.git`), `not listed` (by
/// git), `unknown clone` (the log does not know it), or `cannot tell`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those that nobody is responsible for.
    #[arg(long)]
    orphaned: bool,
}

#[derive(Debug, Serialize)]
struct ListRow {
    name: String,
    session: Option<String>,
    branch: Option<String>,
    status: Option<String>,
    orphan: Option<&'static str>,
    source: &'static str,
    code: Option<&'static str>,
    problem: Option<String>,
    path: String,
}

impl ListRow {
    fn of(row: WorktreeRow) -> Self {
        Self {
            orphan: row.orphan.as_ref().map(longhaul_runtime::Orphan::word),
            source: word(row.source),
            name: row.name,
            session: row.session,
            branch: row.branch,
            status: row.status,
            code: row.code,
            problem: row.problem,
            path: row.path.to_string_lossy().into_owned(),
        }
    }
}

impl Row for ListRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            ("NAME", self.name.clone()),
            ("STATUS", shown(&self.status)),
            ("ORPHAN", self.orphan.unwrap_or("-").to_owned()),
            ("SESSION", shown(&self.session)),
            ("PATH", self.path.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        self.problem.clone()
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let rows = context.system()?.worktree_list()?;
    let rows = rows.into_iter().filter(|row| !args.orphaned || row.orphan.is_some());
    let rows: Vec<ListRow> = rows.map(ListRow::of).collect();
    context.output.rows(&rows)?;
    if rows.is_empty() {
        context.output.say(if args.orphaned {
            "no worktree is orphaned: somebody is responsible for each"
        } else {
            "no session has a worktree here; `longhaul run` and `longhaul worktree new SESSION` make one"
        });
    } else if args.orphaned {
        context.output.say("`longhaul worktree clean` says of each what can be done about it");
    }
    Ok(ExitCode::SUCCESS)
}
