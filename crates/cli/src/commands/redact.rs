//! `longhaul redact`: takes a value out of everything that is stored.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use longhaul_runtime::types::{Names, Redacted};
use longhaul_runtime::{Error, terminal};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Row, count};

/// Take a value out of everything that is stored, so that no byte of it is left.
///
/// The value is asked for and not shown, or read from a file; it is never an argument, because arguments are
/// seen by others and kept in the history of the shell. Where it was, `[redacted]` stands, and `longhaul log
/// verify` says so.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Read the value from this file, or from standard input if it is `-`; a line break at its end does not count.
    #[arg(long, value_name = "FILE")]
    value_file: Option<PathBuf>,
    /// Take it out of names of steps and vars and of words of workflows too; what needs them can no longer be followed.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Serialize)]
struct RedactedRow {
    decisions: u64,
    blobs: u64,
}

impl Row for RedactedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("DECISIONS", self.decisions.to_string()), ("BLOBS", self.blobs.to_string())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let Some(commands) = system.existing_commands()? else {
        context.output.say("nothing is stored yet");
        return Ok(ExitCode::SUCCESS);
    };
    let value = match &args.value_file {
        Some(path) => read_value(path)?,
        None => ask_value()?,
    };
    let names = if args.force { Names::TakeOut } else { Names::Spare };
    let Redacted { decisions, blobs } = commands.redact(&value, names)?;
    let lines = system.redact_logs(&value)?;
    context.output.row(RedactedRow { decisions, blobs })?;
    if lines > 0 {
        context.output.say(&format!("blanked {} of `longhaul logs`", count(lines, "line")));
    }
    if (decisions, blobs, lines) == (0, 0, 0) {
        context.output.say("the value was found nowhere; check how it is written");
        return Ok(ExitCode::SUCCESS);
    }
    let (decisions, blobs) = (count(decisions, "decision"), count(blobs, "blob"));
    context.output.say(&format!("took the value out of {decisions} and {blobs}"));
    context.output.say("backups and exports that were made earlier still hold it");
    for path in set_aside(&system.places().data) {
        context.output.say(&format!("so may `{}*`; remove these files if you can", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn read_value(path: &Path) -> Result<String, CliError> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(path)
    };
    let bytes = bytes.map_err(CliError::file("read", path))?;
    let text = String::from_utf8(bytes).map_err(|_| CliError::NotText { path: path.to_owned() })?;
    let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    Ok(line.unwrap_or(&text).to_owned())
}

fn ask_value() -> Result<String, CliError> {
    match terminal::ask_hidden("The value to take out (it is not shown): ") {
        Ok(value) => value.filter(|value| !value.is_empty()).ok_or(CliError::NoValue),
        Err(Error::NoTerminal) => Err(CliError::NobodyToAsk),
        Err(error) => Err(error.into()),
    }
}

/// Databases that a restore or a recovery put aside, each with its side files; nobody changes them any more.
fn set_aside(data: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(data).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<PathBuf> = names
        .filter(|name| name.starts_with("longhaul.db.") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        .map(|name| data.join(name))
        .collect();
    found.sort();
    found
}
