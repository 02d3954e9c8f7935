//! `longhaul queue`: tasks that wait for their turn.

mod add;
mod list;
mod r#move;
mod pause;
mod rm;

use std::process::ExitCode;

use longhaul_runtime::control::{Caller, Control};
use longhaul_runtime::types::TaskId;
use longhaul_runtime::{Commands, System};

use super::task::{self, TaskLine};
use crate::context::Context;
use crate::error::CliError;

/// Have tasks done when their turn comes, and say which goes first.
///
/// A daemon starts them (`longhaul daemon start`); without one they wait.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Add(Box<add::Args>),
    Move(r#move::Args),
    Pause(pause::PauseArgs),
    Resume(pause::ResumeArgs),
    Rm(rm::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Add(args) => add::run(context, args),
            Self::Move(args) => r#move::run(context, args),
            Self::Pause(args) => pause::pause(context, args),
            Self::Resume(args) => pause::resume(context, args),
            Self::Rm(args) => rm::run(context, args),
        }
    }
}

/// The installation as whoever runs this command may use it.
pub(super) fn control<'a>(system: &'a System, commands: &'a Commands) -> Control<'a> {
    Control { system, commands, caller: Caller::here() }
}

/// A task that was just opened.
pub(super) fn show_opened(context: &Context, system: &System, id: TaskId) -> Result<ExitCode, CliError> {
    let (_, view) = task::find(system, &id.to_string())?;
    context.output.row(TaskLine::of(&view))?;
    Ok(ExitCode::SUCCESS)
}
