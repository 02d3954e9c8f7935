//! `longhaul task`: units of work, each with all attempts at it and all sessions that it led to.

mod budget;
mod cancel;
mod list;
mod retry;
mod row;
mod set;
mod show;

use std::process::ExitCode;

use longhaul_runtime::{Reader, System, TaskError, TaskView};

pub(super) use row::{TaskLine, age};

use crate::context::Context;
use crate::error::CliError;

/// See what is being done, and end it, try it again, or give it more.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Cancel(cancel::Args),
    Retry(retry::Args),
    Set(set::Args),
    Budget(budget::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::Cancel(args) => cancel::run(context, args),
            Self::Retry(args) => retry::run(context, args),
            Self::Set(args) => set::run(context, args),
            Self::Budget(args) => budget::run(context, args),
        }
    }
}

/// The task that a person means. Without a store there is none.
pub(super) fn find(system: &System, text: &str) -> Result<(Reader, TaskView), CliError> {
    let missing = || longhaul_runtime::Error::from(TaskError::NoSuch(text.to_owned()));
    let reader = system.reader()?.ok_or_else(missing)?;
    let view = reader.find_task(text)?;
    Ok((reader, view))
}

/// The task as it is by now.
pub(super) fn show_again(context: &Context, reader: &Reader, view: &TaskView) -> Result<ExitCode, CliError> {
    context.output.row(TaskLine::of(&reader.find_task(&view.id.to_string())?))?;
    Ok(ExitCode::SUCCESS)
}
