//! `longhaul session checkpoint`: keeps notes from the middle of a step.

use std::process::ExitCode;

use longhaul_runtime::types::Handle;
use longhaul_runtime::{Checkpoint, Error};
use serde_json::{Map, json};

use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Keep notes for a step that is not done yet, so that they outlive whoever does it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The token of the step (`checkpointToken`).
    token: String,

    /// The notes; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    notes: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let token: Handle = args.token.parse().map_err(Error::from)?;
    let notes = input::text("`--notes`", &args.notes)?;
    let commands = context.system()?.existing_commands()?.ok_or(Error::UnknownSession(token.session))?;
    let session = commands.checkpoint(&Checkpoint { token, notes, vars: Map::new() })?.to_string();
    context.output.text("", &json!({"sessionId": session, "kept": true}))?;
    context.output.say(&format!("the notes are kept; `longhaul session show {session}` shows them"));
    Ok(ExitCode::SUCCESS)
}
