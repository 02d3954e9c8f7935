//! `longhaul workspace`: the registered repositories, and which of them are trusted.

mod add;
mod list;
mod rm;
mod row;
mod trust;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Register repositories, and say which of them you trust.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Add(add::Args),
    List(list::Args),
    Rm(rm::Args),
    Trust(trust::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Add(args) => add::run(context, args),
            Self::List(args) => list::run(context, args),
            Self::Rm(args) => rm::run(context, args),
            Self::Trust(args) => trust::run(context, args),
        }
    }
}
