//! `longhaul session export`: one session, to be carried elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use super::find;
use crate::commands::log::export;
use crate::context::Context;
use crate::error::CliError;

/// Write a session with its workflow and everything it holds, for `longhaul session import`.
///
/// Whoever has the export can go on in the name of the session: its handles stay good.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// Write to this new file instead of standard output (`-`).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, row) = find(&system, &args.session)?;
    let streams = reader.streams_to_carry(&row)?;
    let written = export::write(context, &reader, &streams, args.output.as_deref())?;
    if let Some(checkout) = &row.checkout {
        context.output.say(&format!("it was started in {}; the files there are not in it", checkout.path));
    }
    export::tell(context, written)
}
