//! `longhaul session list`: what is under way.

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
    context.output.rows(&SessionLine::with_cassette(&system, rows)?)?;
    match total {
        0 => context.output.say("there is no session; `longhaul session start` starts one"),
        _ if args.all => {}
        _ if none_open => context.output.say("no session is open; `--all` shows those that are closed"),
        _ => context.output.say("`--all` shows those that are closed too"),
    }
    Ok(ExitCode::SUCCESS)
}
