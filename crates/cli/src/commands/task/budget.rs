//! `longhaul task budget`: what all of a task may cost.

use std::process::ExitCode;

use super::{find, show_again};
use crate::context::Context;
use crate::error::CliError;

/// Show what a task cost, or give it another cap on money; what waits for want of it goes on.
///
/// The cap is for all attempts and all sessions together. What one session may use is given with
/// `longhaul session resume ID --budget`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// What all of it may cost, as in `money=30usd`.
    #[arg(value_name = "CAP")]
    cap: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, view) = find(&system, &args.task)?;
    if let Some(cap) = &args.cap {
        system.change_task_budget(&system.commands()?, &view, cap)?;
    }
    show_again(context, &reader, &view)
}
