//! `longhaul task budget`: what all of a task may cost.

use std::process::ExitCode;

use longhaul_runtime::types::show_money;
use serde::Serialize;

use super::{TaskLine, find};
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

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
    context.output.row(Purse(TaskLine::of(&reader.find_task(&view.id.to_string())?)))?;
    Ok(ExitCode::SUCCESS)
}

/// What a task cost and may cost.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Purse(TaskLine);

impl Row for Purse {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self(task) = self;
        let cap = task.budget_micros.map_or_else(|| "-".to_owned(), show_money);
        vec![
            ("ID", task.id.clone()),
            ("STATE", task.state.to_owned()),
            ("COST", show_money(task.money_micros)),
            ("CAP", cap),
            ("SESSIONS", task.sessions.to_string()),
            ("GOAL", task.goal.lines().next().unwrap_or_default().to_owned()),
        ]
    }

    fn note(&self) -> Option<String> {
        self.0.note()
    }
}
