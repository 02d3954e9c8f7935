//! `longhaul session continue`: asks a completed session for more.

use std::process::ExitCode;

use super::find;
use crate::context::Context;
use crate::error::CliError;
use crate::{input, step};

/// Ask a completed session for more: one step in the same log, with all that the session knows.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// What is wanted; `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    text: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, row) = find(&system, &args.session)?;
    let text = input::text("the text", &args.text)?;
    step::show(context, &system.continue_session(&system.commands()?, row.id, &text)?)
}
