//! `longhaul proof show`: the proof of a task, for people and for programs.

use std::process::ExitCode;

use longhaul_runtime::types::proof;

use crate::commands::task::find;
use crate::context::Context;
use crate::error::CliError;
use crate::output::lines;

/// Show what was checked of a task's change, criterion by criterion, and what came of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// For people, for a pull request, for programs, or as an in-toto statement.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Form::Text)]
    format: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Text,
    #[value(alias = "markdown")]
    Md,
    Json,
    #[value(alias = "in-toto")]
    Intoto,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (reader, view) = find(&context.system()?, &args.task)?;
    let proof = reader.proof_of_task(&view)?;
    let text = match args.format {
        Form::Text => lines(&proof::text(&proof), ""),
        Form::Md => lines(&proof::markdown(&proof), ""),
        Form::Json => format!("{}\n", proof.json()),
        Form::Intoto => format!("{}\n", proof::statement(&proof)),
    };
    match args.format {
        Form::Intoto => context.output.text(&text, &proof::statement(&proof))?,
        Form::Text | Form::Md | Form::Json => context.output.text(&text, &proof.json())?,
    }
    Ok(ExitCode::SUCCESS)
}
