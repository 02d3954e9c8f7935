//! `longhaul queue pause` and `resume`: whether anything new is started.

use std::process::ExitCode;

use longhaul_web::rows::DoneRow;

use super::control;
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Have nothing new started. What runs goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    /// Only in this repository: a workspace by its name, id or path.
    #[arg(long, value_name = "WORKSPACE")]
    workspace: Option<String>,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    because: Option<String>,
}

/// Have tasks started again.
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// Only in this repository: a workspace by its name, id or path.
    #[arg(long, value_name = "WORKSPACE")]
    workspace: Option<String>,
}

pub(crate) fn pause(context: &Context, args: &PauseArgs) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let because = args.because.as_deref().map(|because| input::text("`--because`", because)).transpose()?;
    let commands = system.commands()?;
    let changed = control(&system, &commands).pause(args.workspace.as_deref(), because.as_deref())?;
    told(context, changed, if changed { "nothing new is started" } else { "it was paused already" })
}

pub(crate) fn resume(context: &Context, args: &ResumeArgs) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let commands = system.commands()?;
    let changed = control(&system, &commands).resume(args.workspace.as_deref())?;
    told(context, changed, if changed { "tasks are started again" } else { "it was not paused" })
}

fn told(context: &Context, changed: bool, words: &str) -> Result<ExitCode, CliError> {
    context.output.text(&format!("{words}\n"), &DoneRow::changed(changed))?;
    Ok(ExitCode::SUCCESS)
}
