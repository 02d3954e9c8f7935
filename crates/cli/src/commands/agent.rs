//! `longhaul agent`: who can be asked to do the steps, and what they cost.

mod add;
mod check;
mod cost;
mod list;
mod rm;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// See who can be asked to do the steps of a workflow, whether that works here, and what it cost.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Check(check::Args),
    Add(Box<add::Args>),
    Rm(rm::Args),
    Cost(cost::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Check(args) => check::run(context, args),
            Self::Add(args) => add::run(context, args),
            Self::Rm(args) => rm::run(context, args),
            Self::Cost(args) => cost::run(context, args),
        }
    }
}
