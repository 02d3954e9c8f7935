//! `longhaul workflow source rm`: forgets a repository of workflows.

use std::process::ExitCode;

use super::row::SourceRow;
use crate::context::Context;
use crate::error::CliError;

/// Forget a repository of workflows; sessions that run keep theirs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name.
    name: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let removed = context.system()?.remove_git_source(&args.name)?;
    context.output.row(SourceRow::of(removed))?;
    context.output.say(&format!("`{}` is no longer a source", args.name));
    Ok(ExitCode::SUCCESS)
}
