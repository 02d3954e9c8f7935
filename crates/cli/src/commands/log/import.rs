//! `longhaul log import`: takes in an export.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::types::Imported;
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::input::export;
use crate::output::{Row, count};

/// Take in an export: all of it, or nothing if any of it does not fit.
///
/// What is here already is left as it is. Answers to gates and commands in it would count as if they had come about
/// here: they are shown on the terminal, and a person has to type a word for them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file that `longhaul log export` wrote, or `-` for standard input.
    file: PathBuf,
}

#[derive(Debug, Serialize)]
struct ImportedRow {
    streams: u64,
    decisions: u64,
    already_here: u64,
    left_out: u64,
    blobs: u64,
    scrubbed: u64,
    lifted: u64,
}

impl Row for ImportedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("NEW STREAMS", self.streams.to_string()),
            ("DECISIONS", self.decisions.to_string()),
            ("ALREADY HERE", self.already_here.to_string()),
            ("BLOBS", self.blobs.to_string()),
            ("SCRUBBED", self.scrubbed.to_string()),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let imported = system.commands()?.import(&mut *export(&args.file)?)?;
    let Imported { streams, decisions, already_here, left_out, blobs, scrubbed, lifted, .. } = imported;
    context.output.row(ImportedRow {
        streams,
        decisions,
        already_here,
        left_out,
        blobs,
        scrubbed,
        lifted,
    })?;
    if lifted > 0 {
        let streams = count(lifted, "quarantined stream");
        context.output.say(&format!("whole again, and free to go on: {streams}"));
    }
    if left_out > 0 {
        context.output.say("workspaces were left out: register and trust them on each machine");
    }
    if scrubbed > 0 {
        context.output.say(&format!("secrets were taken out of {scrubbed} of them"));
    }
    Ok(ExitCode::SUCCESS)
}
