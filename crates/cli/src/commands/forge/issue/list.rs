//! `longhaul forge issue list`: all issues.

use std::process::ExitCode;

use longhaul_runtime::Error;
use longhaul_runtime::forge::{Forge as _, State};

use super::super::At;
use super::IssueRow;
use crate::context::Context;
use crate::error::CliError;

/// List issues, open ones unless told otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Closed ones too.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    at: At,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let state = (!args.all).then_some(State::Open);
    let issues = args.at.find(context)?.issues(state).map_err(Error::from)?;
    context.output.rows(&issues.iter().map(IssueRow).collect::<Vec<_>>())?;
    if issues.is_empty() {
        context.output.say("no issue is open");
    }
    Ok(ExitCode::SUCCESS)
}
