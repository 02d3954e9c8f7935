//! `longhaul session export`: one session, to be carried elsewhere.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::find;
use crate::commands::log::export::to_file;
use crate::context::Context;
use crate::error::CliError;
use crate::output::count;

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
    let decisions = match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => to_file(path, |out| reader.export_session(row.id, out))?,
        None => reader.export_session(row.id, &mut context.output.data())?,
    };
    context.output.say(&format!("exported {} of {}", count(decisions, "decision"), row.id));
    if let Some(checkout) = &row.checkout {
        context.output.say(&format!("it was started in {}; the files there are not in it", checkout.path));
    }
    Ok(ExitCode::SUCCESS)
}
