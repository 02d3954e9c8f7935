//! `longhaul backup`: the whole store as one file, while others go on.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::types::{Backup, Verdict, show_size};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::output::{Row, count};

/// Write the whole store to one new file, while others go on.
///
/// Keep the file as you would keep the store: whoever has it can read everything.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to write; one that is there is not overwritten.
    file: PathBuf,
}

#[derive(Debug, Serialize)]
struct BackupRow {
    bytes: u64,
    blobs_left_out: u64,
    file: String,
}

impl Row for BackupRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("SIZE", show_size(self.bytes)), ("FILE", self.file.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let commands = context.system()?.existing_commands()?.ok_or(CliError::NoStore { verb: "back up" })?;
    if args.file.exists() {
        return Err(CliError::Exists { path: args.file.clone() });
    }
    let Backup { bytes, blobs_left_out } = commands.backup(&args.file)?;
    context.output.row(BackupRow { bytes, blobs_left_out, file: args.file.display().to_string() })?;
    if blobs_left_out > 0 {
        context.output.say(&format!("{blobs_left_out} damaged blobs are left out; see `longhaul doctor`"));
    }
    let damaged = damaged_streams(context)?;
    if damaged > 0 {
        let streams = count(damaged, "damaged stream");
        context
            .output
            .say(&format!("the backup holds {streams}; see `longhaul doctor`, and keep your older backups"));
        return Ok(ExitCode::from(ENVIRONMENT));
    }
    context.output.say("`longhaul restore` puts it back in place");
    Ok(ExitCode::SUCCESS)
}

/// A backup of a damaged store is better than none, but nobody should take it for a good one.
fn damaged_streams(context: &Context) -> Result<u64, CliError> {
    let Some(reader) = context.system()?.reader()? else { return Ok(0) };
    let mut damaged = 0;
    for stream in reader.streams()? {
        damaged += u64::from(matches!(reader.verify_stream(&stream)?.verdict, Verdict::Broken(_)));
    }
    Ok(damaged)
}
