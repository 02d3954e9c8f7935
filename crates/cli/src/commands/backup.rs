//! `longhaul backup`: the whole store as one file, while others go on.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::types::{Backup, show_size};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

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
    context.output.say("`longhaul restore` puts it back in place");
    Ok(ExitCode::SUCCESS)
}
