//! `longhaul inbox list`: what waits for a person.

use std::process::ExitCode;

use super::row::EntryLine;
use crate::context::Context;
use crate::error::CliError;

/// List what waits for you, the most urgent first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context) -> Result<ExitCode, CliError> {
    let desk = context.system()?.desk()?;
    let lines: Vec<EntryLine<'_>> =
        desk.entries.iter().map(|entry| EntryLine::of(entry, desk.seen.now)).collect();
    context.output.rows(&lines)?;
    match lines.first() {
        None => context.output.say("nothing waits for you"),
        Some(first) => {
            context
                .output
                .say(&format!("next: longhaul inbox show {}  # what can be done about it", first.id()));
        }
    }
    Ok(ExitCode::SUCCESS)
}
