//! `longhaul secret`: the values that agents and providers need and that must never be stored.

mod list;
mod rm;
mod set;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Keep secret values: they are given by name, and taken out of everything that is stored.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Set(set::Args),
    List(list::Args),
    Rm(rm::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Set(args) => set::run(context, args),
            Self::List(args) => list::run(context, args),
            Self::Rm(args) => rm::run(context, args),
        }
    }
}
