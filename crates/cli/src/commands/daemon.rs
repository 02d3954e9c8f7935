//! `longhaul daemon`: who starts tasks while nobody is at the keyboard.

mod openapi;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Have tasks started and looked after while nobody is at the keyboard.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Openapi(openapi::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Openapi(args) => openapi::run(context, args),
        }
    }
}
