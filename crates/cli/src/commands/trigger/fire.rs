//! `longhaul trigger fire`: a trigger that shall begin its task now.

use std::process::ExitCode;

use crate::commands::queue::{control, show_opened};
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Have a trigger begin its task now, with or without a daemon. It waits in the queue like any other.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of a trigger, or its workspace and id: `shop/nightly-audit`.
    #[arg(value_name = "ID")]
    id: String,

    /// What is wanted, instead of what the trigger says; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    goal: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let goal = args.goal.as_deref().map(|goal| input::text("`--goal`", goal)).transpose()?;
    let commands = system.commands()?;
    let fired = control(&system, &commands).fire(&args.id, goal.as_deref())?;
    context.output.say(&format!("trigger {} began: {}", fired.trigger, fired.goal));
    show_opened(context, &system, fired.task)
}
