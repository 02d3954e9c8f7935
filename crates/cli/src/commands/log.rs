//! `longhaul log`: what was decided, in order.

pub(super) mod export;
mod import;
mod line;
mod show;
mod tail;
mod verify;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Look at the log, check it, and carry it to another machine.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Show(show::Args),
    Tail(tail::Args),
    Verify(verify::Args),
    Export(export::Args),
    Import(import::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Show(args) => show::run(context, args),
            Self::Tail(args) => tail::run(context, args),
            Self::Verify(args) => verify::run(context, args),
            Self::Export(args) => export::run(context, args),
            Self::Import(args) => import::run(context, args),
        }
    }
}
