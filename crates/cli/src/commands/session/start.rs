//! `longhaul session start`: begins a workflow.

use std::process::ExitCode;

use longhaul_runtime::NewWalk;

use crate::context::Context;
use crate::error::CliError;
use crate::{input, step};

/// Start a session: pin a workflow and show its first step.
///
/// A repository that is not registered is registered, untrusted. Outside of git, what runs commands does not start.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of a workflow, or its file if the repository has a `.longhaul/` that a person trusts.
    #[arg(long, value_name = "ID|FILE")]
    workflow: String,

    /// What it is for; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    goal: String,

    /// Vars to begin with, as a JSON object.
    #[arg(long, value_name = "JSON|@FILE")]
    vars: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let goal = input::text("the goal", &args.goal)?;
    let vars = args.vars.as_deref().map(|vars| input::object("`--vars`", vars)).transpose()?;
    let system = context.system()?;
    let new = NewWalk { workflow: args.workflow.clone(), goal, vars: vars.unwrap_or_default() };
    let view = system.begin(&system.commands()?, new)?;
    step::show(context, &view)
}
