//! `longhaul forge issue close`: it is done, or will not be.

use std::process::ExitCode;

use longhaul_runtime::forge::Forge as _;
use longhaul_runtime::{Error, terminal};

use super::super::At;
use super::IssueRow;
use crate::context::Context;
use crate::error::CliError;

/// Close an issue.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    number: u64,

    #[command(flatten)]
    at: At,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    terminal::refuse_agents()?;
    let issue = args.at.find(context)?.close_issue(args.number).map_err(Error::from)?;
    context.output.row(IssueRow(&issue))?;
    Ok(ExitCode::SUCCESS)
}
