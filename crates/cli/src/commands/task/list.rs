//! `longhaul task list`: what is being done.

use std::process::ExitCode;

use super::row::{TaskLine, is_open};
use crate::context::Context;
use crate::error::CliError;

/// List the tasks that are not over or that somebody has to mend, the most urgent first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also those that are over.
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (mut views, damaged) = match context.system()?.reader()? {
        Some(reader) => reader.tasks()?,
        None => (Vec::new(), Vec::new()),
    };
    let total = views.len();
    views.retain(|view| args.all || is_open(view));
    views.sort_by_key(|view| std::cmp::Reverse((view.task.priority, view.updated_at, view.id)));
    context.output.rows(&views.iter().map(TaskLine::of).collect::<Vec<_>>())?;
    for task in damaged {
        context
            .output
            .complain(&format!("task {} cannot be read: {}; see `longhaul doctor`", task.id, task.problem));
    }
    match (total, views.is_empty()) {
        (0, _) => context.output.say("there is no task; `longhaul run \"GOAL\"` starts one"),
        (_, true) => context.output.say("no task is open; `--all` shows those that are over"),
        (_, false) => {}
    }
    Ok(ExitCode::SUCCESS)
}
