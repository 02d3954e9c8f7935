//! `longhaul task cancel`: ends a task with its whole tree.

use std::process::ExitCode;

use longhaul_runtime::types::Urgency;
use longhaul_runtime::{Stop, terminal};

use super::{find, show_again};
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// End a task for good: all its sessions, and every process that runs for them. What was done stays, files too.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, alias = "reason", value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    because: Option<String>,

    /// Do not wait for the call that is under way.
    #[arg(long)]
    now: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, view) = find(&system, &args.task)?;
    let reason = args.because.as_deref().map(|because| input::text("`--because`", because)).transpose()?;
    let urgency = if args.now { Urgency::Now } else { Urgency::AfterGrace };
    let stop = Stop { urgency, by: terminal::user_name(), reason };
    system.cancel_task(&system.commands()?, view.id, &stop)?;
    show_again(context, &reader, &view)
}
