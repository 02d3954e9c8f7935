//! `longhaul config`: the settings in force.

mod show;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Show the settings in force.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Show(show::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Show(args) => show::run(context, args),
        }
    }
}
