//! `longhaul sandbox`: the walls around programs.

mod check;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// See what a sandbox holds here.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Check(check::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Check(args) => check::run(context, args),
        }
    }
}
