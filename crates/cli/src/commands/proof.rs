//! `longhaul proof`: what was checked of a change, and what came of it.

mod show;
mod verify;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Show the proof of a task's change, and judge one that somebody hands over.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Show(show::Args),
    Verify(verify::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Show(args) => show::run(context, args),
            Self::Verify(args) => verify::run(context, args),
        }
    }
}
