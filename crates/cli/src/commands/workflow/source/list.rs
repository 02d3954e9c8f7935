//! `longhaul workflow source list`: the repositories that were added.

use std::process::ExitCode;

use super::row::SourceRow;
use crate::context::Context;
use crate::error::CliError;

/// List the repositories of workflows that were added.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _: &Args) -> Result<ExitCode, CliError> {
    let sources = context.system()?.git_sources()?;
    let rows: Vec<SourceRow> = sources.into_iter().map(SourceRow::of).collect();
    context.output.rows(&rows)?;
    if rows.is_empty() {
        context.output.say("no git source was added; `longhaul workflow source add` adds one");
    }
    Ok(ExitCode::SUCCESS)
}
