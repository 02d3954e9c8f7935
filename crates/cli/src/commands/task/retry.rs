//! `longhaul task retry`: one more attempt.

use std::process::ExitCode;

use longhaul_runtime::Again;

use super::{find, show_again};
use crate::commands::queue::control;
use crate::context::Context;
use crate::error::CliError;
use crate::{input, step};

/// Try a task again that failed, could not be done or was cancelled: a new session, from the newest commit.
///
/// What came through the queue waits there for its turn again. Goal, pipeline, agent and walls are those of the attempt before; the workflow is taken as it is now.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, alias = "reason", value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    because: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, view) = find(&system, &args.task)?;
    let because = args.because.as_deref().map(|because| input::text("`--because`", because)).transpose()?;
    let commands = system.commands()?;
    if view.task.orders.is_some() {
        control(&system, &commands).retry(&view, because.as_deref())?;
        context.output.say("it waits for its turn again; `longhaul queue list` shows when that comes");
        return show_again(context, &reader, &view);
    }
    match system.retry_task(&commands, &view, because.as_deref())? {
        Again::Handed(shown) => step::show(context, &shown),
        Again::Driven(drive) => {
            context.output.say(&format!(
                "session {} ({}) works in {} on {}",
                drive.session, drive.agent, drive.worktree, drive.branch
            ));
            drive.warnings.iter().for_each(|warning| context.output.say(&format!("warning: {warning}")));
            show_again(context, &reader, &view)
        }
    }
}
