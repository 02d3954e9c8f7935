//! `longhaul session advance`: hands in the answer to a step.

use std::process::ExitCode;

use longhaul_runtime::types::{Answer, Handle};
use longhaul_runtime::{Advance, Error};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::error::CliError;
use crate::{input, step};

/// Answer a step and show where that leads.
///
/// The same call again gets the same answer. An answer that is not accepted is put on record with its reasons and
/// exits with 3; the step stays, under a new handle.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The handle of the step (`continueToken`).
    handle: String,

    /// What was done, found and how it is known; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    notes: Option<String>,

    /// Vars to set, as a JSON object; `null` deletes.
    #[arg(long, value_name = "JSON|@FILE")]
    vars: Option<String>,

    /// Something that the step asked for, as JSON; may be repeated.
    #[arg(long, value_name = "JSON|@FILE")]
    artifact: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let handle: Handle = args.handle.parse().map_err(Error::from)?;
    let answer = Answer::from_payload(&payload(args)?).map_err(Error::BadAnswer)?;
    let system = context.system()?;
    let commands = system.existing_commands()?.ok_or(Error::UnknownSession(handle.session))?;
    let view = system.advance(&commands, &Advance { handle, answer, epoch: None })?;
    step::show(context, &view)
}

fn payload(args: &Args) -> Result<Value, CliError> {
    let mut payload = Map::new();
    if let Some(notes) = &args.notes {
        payload.insert("notes".to_owned(), Value::String(input::text("`--notes`", notes)?));
    }
    if let Some(vars) = &args.vars {
        payload.insert("vars".to_owned(), input::json("`--vars`", vars)?);
    }
    if !args.artifact.is_empty() {
        let artifacts: Result<_, CliError> =
            args.artifact.iter().map(|artifact| input::json("`--artifact`", artifact)).collect();
        payload.insert("artifacts".to_owned(), Value::Array(artifacts?));
    }
    Ok(Value::Object(payload))
}
