//! `longhaul forge pr list`: all pull requests.

use std::process::ExitCode;

use longhaul_runtime::Error;
use longhaul_runtime::forge::{Forge as _, PullState};

use super::super::At;
use super::PullRow;
use crate::context::Context;
use crate::error::CliError;

/// List pull requests, open ones unless told otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Merged and closed ones too.
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    at: At,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let state = (!args.all).then_some(PullState::Open);
    let pulls = args.at.find(context)?.pulls(state).map_err(Error::from)?;
    context.output.rows(&pulls.iter().map(PullRow).collect::<Vec<_>>())?;
    if pulls.is_empty() {
        context.output.say("no pull request is open");
    }
    Ok(ExitCode::SUCCESS)
}
