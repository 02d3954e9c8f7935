//! `longhaul workflow source update`: fetches again.

use std::process::ExitCode;

use super::row::SourceRow;
use crate::context::Context;
use crate::error::CliError;

/// Fetch repositories of workflows again; what they have now counts from now on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Their names; without one, all of them.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let updated = context.system()?.update_git_sources(&args.names)?;
    let rows: Vec<SourceRow> =
        updated.into_iter().map(|updated| SourceRow::updated(updated.source, updated.before)).collect();
    context.output.rows(&rows)?;
    Ok(ExitCode::SUCCESS)
}
