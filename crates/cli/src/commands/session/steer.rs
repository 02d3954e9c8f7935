//! `longhaul session steer`: a person's words to an agent at work.

use std::process::ExitCode;

use serde::Serialize;

use super::find;
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Say something to the agent that does a session; it hears it with its next turn. What was parked goes on.
///
/// It is for sessions that `longhaul run` drives. A completed session is asked for more with `longhaul session continue`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// What to say; `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    session_id: String,
    steered: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, row) = find(&system, &args.session)?;
    let text = input::text("the text", &args.text)?;
    system.steer(&system.commands()?, row.id, &text)?;
    context.output.text("", &Said { session_id: row.id.to_string(), steered: true })?;
    context.output.say("the agent hears it with its next turn");
    context.output.say(&format!("next: longhaul session tail {}  # what it does with it", row.id));
    Ok(ExitCode::SUCCESS)
}
