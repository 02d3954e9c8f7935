//! `longhaul session list`: what is under way.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use longhaul_runtime::types::SessionStatus;

use super::row::SessionLine;
use crate::context::Context;
use crate::error::CliError;

/// List the sessions that are open, the one that changed last first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also those that are closed.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let mut rows = match system.reader()? {
        Some(reader) => reader.sessions()?,
        None => Vec::new(),
    };
    let total = rows.len();
    rows.retain(|row| args.all || row.status == SessionStatus::Open);
    let none_open = rows.is_empty();
    rows.sort_by_key(|row| std::cmp::Reverse((row.updated_at, row.id)));
    context.output.rows(&below_parents(SessionLine::with_cassette(&system, rows)?))?;
    match total {
        0 => context.output.say("there is no session; `longhaul session start` starts one"),
        _ if args.all => {}
        _ if none_open => context.output.say("no session is open; `--all` shows those that are closed"),
        _ => context.output.say("`--all` shows those that are closed too"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts sessions right below the one that led to them, if that is listed. All else stays in its order.
fn below_parents(lines: Vec<SessionLine>) -> Vec<SessionLine> {
    let listed: BTreeSet<String> = lines.iter().map(|line| line.id.clone()).collect();
    let is_below = |line: &SessionLine| line.parent.as_ref().is_some_and(|parent| listed.contains(parent));
    let (below, mut waiting): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_below);
    let mut families: BTreeMap<String, Vec<SessionLine>> = BTreeMap::new();
    for line in below {
        families.entry(line.parent.clone().unwrap_or_default()).or_default().push(line);
    }
    waiting.reverse();
    let mut placed = Vec::new();
    while let Some(line) = waiting.pop() {
        let level = line.level + 1;
        let children = families.remove(&line.id).unwrap_or_default();
        waiting.extend(children.into_iter().rev().map(|child| child.at_level(level)));
        placed.push(line);
    }
    // An import may claim that sessions are below each other.
    placed.extend(families.into_values().flatten());
    placed
}
