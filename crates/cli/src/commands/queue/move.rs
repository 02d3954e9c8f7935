//! `longhaul queue move`: a person's word against the rank.

use std::process::ExitCode;

use longhaul_runtime::control::QueueMove;

use super::control;
use crate::commands::task::{find, show_again};
use crate::context::Context;
use crate::error::CliError;
use crate::words;

/// Put a task that waits first or last, or back where its rank puts it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, or the beginning of its id.
    #[arg(value_name = "TASK")]
    task: String,

    /// Where.
    #[arg(value_name = "PLACE", value_parser = words::one_of(QueueMove::WORDS))]
    to: QueueMove,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, view) = find(&system, &args.task)?;
    let commands = system.commands()?;
    if !control(&system, &commands).move_in_queue(view.id, args.to)? {
        context.output.say("it was there already");
    }
    show_again(context, &reader, &view)
}
