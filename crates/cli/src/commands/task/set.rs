//! `longhaul task set`: what a task is to be from now on.

use std::process::ExitCode;

use longhaul_runtime::TaskSetting;

use super::{find, show_again};
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Change the priority or the deadline of a task, with a because that stays on record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// `priority=low|normal|high|urgent`, `deadline=2d` from now, or `deadline=none`.
    #[arg(value_name = "KEY=VALUE", required = true)]
    assignments: Vec<String>,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, alias = "reason", value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    because: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, view) = find(&system, &args.task)?;
    let because = args.because.as_deref().map(|because| input::text("`--because`", because)).transpose()?;
    let setting = TaskSetting { assignments: args.assignments.clone(), because };
    let changed = system.set_task(&system.commands()?, view.id, &setting)?;
    if changed.is_empty() {
        context.output.say("it was so already");
    }
    show_again(context, &reader, &view)
}
