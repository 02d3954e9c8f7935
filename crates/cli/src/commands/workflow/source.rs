//! `longhaul workflow source`: repositories of workflows that a person added.

mod add;
mod list;
mod rm;
mod row;
mod update;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Add repositories of workflows, and keep them up to date.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Add(add::Args),
    List(list::Args),
    Rm(rm::Args),
    Update(update::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Add(args) => add::run(context, args),
            Self::List(args) => list::run(context, args),
            Self::Rm(args) => rm::run(context, args),
            Self::Update(args) => update::run(context, args),
        }
    }
}
