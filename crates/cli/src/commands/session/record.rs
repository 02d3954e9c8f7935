//! `longhaul session record`: what an agent did, as a cassette.

use std::io::Write as _;
use std::process::ExitCode;

use longhaul_runtime::{Error, RecordedRun};
use serde::Serialize;

use super::find;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Format, count};

/// Write what the agent of a session did as a cassette, for `longhaul run --cassette`.
///
/// What a rewind left behind is left out. Secrets are marks in it, as in all that is stored, so a command that needs one
/// does not find it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Recorded<'a> {
    session_id: String,
    turns: usize,
    cassette: &'a str,
    remarks: &'a [String],
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (reader, row) = find(&context.system()?, &args.session)?;
    let RecordedRun { text, turns, remarks } = reader.record(row.id)?;
    let output = &context.output;
    match output.format() {
        // As it is: whoever plays it needs every letter, and no text in it can do anything to a terminal.
        Format::Table => output.data().write_all(text.as_bytes()).map_err(Error::Show)?,
        Format::Json => output.text(
            "",
            &Recorded { session_id: row.id.to_string(), turns, cassette: &text, remarks: &remarks },
        )?,
    }
    remarks.iter().for_each(|remark| output.say(&format!("warning: {remark}")));
    output.say(&count(u64::try_from(turns).unwrap_or(u64::MAX), "turn"));
    Ok(ExitCode::SUCCESS)
}
