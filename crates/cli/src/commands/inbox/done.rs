//! `longhaul inbox done`: takes entries from the list.

use std::process::ExitCode;

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Take entries from the list that you have seen: results, failures, questions that need no answer. Gates stay.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The entries, or the beginnings of their ids.
    #[arg(value_name = "ID", required = true)]
    entries: Vec<String>,
}

#[derive(Debug, Serialize)]
struct DoneRow {
    id: String,
    title: String,
}

impl Row for DoneRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("DONE", self.id.clone()), ("TITLE", self.title.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    // All of them are found before one is settled.
    let desk = system.desk()?;
    let mut entries = Vec::new();
    for text in &args.entries {
        entries.push(desk.find(text)?);
    }
    let commands = system.commands()?;
    let mut rows = Vec::new();
    for entry in entries {
        system.dismiss(&commands, entry)?;
        rows.push(DoneRow { id: entry.id.to_string(), title: entry.title.clone() });
    }
    context.output.rows(&rows)?;
    Ok(ExitCode::SUCCESS)
}
