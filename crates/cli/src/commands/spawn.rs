//! `longhaul spawn`: starts a session that an agent of ours does and returns, for people's own coordinators.

use std::process::ExitCode;

use longhaul_runtime::types::TaskSource;
use longhaul_runtime::{Drive, TaskOrigin};
use serde::Serialize;

use super::hired::Hired;
use crate::context::Context;
use crate::error::CliError;
use crate::input;
use crate::output::lines;

/// Start a session that an agent does, print its id, and return at once; `longhaul await` waits for it.
///
/// With `--parent` it belongs to the task of that session: it is paid from the same purse, and is stopped
/// when that one is. One that is at work when the other completes goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of a workflow, or its file.
    #[arg(long, value_name = "ID|FILE")]
    workflow: String,

    /// What it is for; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    goal: String,

    /// The session that it is started for, or the beginning of its id.
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,

    #[command(flatten)]
    hired: Hired,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Spawned {
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<String>,
    worktree: String,
    branch: String,
    agent: String,
    warnings: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let goal = input::text("the goal", &args.goal)?;
    let system = context.system()?;
    let new = args.hired.drive(&args.workflow, goal, TaskOrigin::of(TaskSource::CLI))?;
    let parent = match &args.parent {
        Some(text) => Some(super::session::find(&system, text)?.1.id),
        None => None,
    };
    let commands = system.commands()?;
    let drive = match parent {
        Some(parent) => system.drive_below(&commands, parent, new)?,
        None => system.drive(&commands, new)?,
    };
    let Drive { session, agent, worktree, branch, warnings, .. } = drive;
    warnings.iter().for_each(|warning| context.output.say(&format!("warning: {warning}")));
    let (session_id, parent_id) = (session.to_string(), parent.map(|parent| parent.to_string()));
    let text = lines(&session_id, "");
    context.output.text(&text, &Spawned { session_id, parent_id, worktree, branch, agent, warnings })?;
    Ok(ExitCode::SUCCESS)
}
