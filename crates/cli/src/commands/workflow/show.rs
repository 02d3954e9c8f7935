//! `longhaul workflow show`: one workflow with all that it says about itself.

use std::process::ExitCode;

use longhaul_runtime::types::Workflow;
use longhaul_runtime::workflows::Entry;
use serde::Serialize;

use super::list::EntryRow;
use super::report::{FindingRow, drawn};
use crate::context::Context;
use crate::error::CliError;

/// Show a workflow: where it comes from, what it takes, and its steps.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, as `longhaul workflow list` shows it, or a file.
    #[arg(value_name = "ID|FILE")]
    workflow: String,

    /// Print the file itself, to read it or to begin one of your own with.
    #[arg(long)]
    text: bool,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    entry: EntryRow,
    diagnostics: Vec<FindingRow>,
    /// As it was compiled, with routines expanded; `null` if it has errors.
    workflow: Option<&'a Workflow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let entry = context.system()?.catalog()?.find_or_read(&args.workflow)?;
    let finding = |diagnostic| FindingRow::of(&entry.path, &entry.text, diagnostic);
    let value = Shown {
        entry: EntryRow::of(&entry),
        diagnostics: entry.diagnostics.iter().map(finding).collect(),
        workflow: entry.workflow.as_deref(),
        text: args.text.then_some(&*entry.text),
    };
    let text = if args.text { entry.text.clone() } else { in_words(&entry, &value.entry) };
    context.output.text(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}

fn in_words(entry: &Entry, row: &EntryRow) -> String {
    let mut text = row.facts();
    for diagnostic in &entry.diagnostics {
        text.push('\n');
        text += &drawn(&entry.path, &entry.text, diagnostic);
    }
    if let Some(workflow) = &entry.workflow {
        text.push('\n');
        text += &super::preview::tree(workflow);
    }
    text
}
