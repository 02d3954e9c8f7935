//! `longhaul queue rm`: a task that nobody wants any more.

use std::process::ExitCode;

use super::control;
use crate::commands::task::{find, show_again};
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Take a task out of the queue. It stays on record as cancelled; `longhaul task retry` puts it in again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, or the beginning of its id.
    #[arg(value_name = "TASK")]
    task: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    because: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, view) = find(&system, &args.task)?;
    let because = args.because.as_deref().map(|because| input::text("`--because`", because)).transpose()?;
    let commands = system.commands()?;
    control(&system, &commands).leave_queue(view.id, because.as_deref())?;
    show_again(context, &reader, &view)
}
