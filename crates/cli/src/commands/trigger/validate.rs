//! `longhaul trigger validate`: whether files of triggers are right, and where they are not.

use std::process::ExitCode;

use longhaul_runtime::triggers::{CheckedTriggers, Owner};

use super::super::workflow::report::{FindingRow, drawn};
use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::input;
use crate::output::{Format, count};

/// Check the triggers of this repository and your own, or files, and say how to put right what is wrong.
///
/// It exits with 3 if a file has errors: then nothing of that file begins a task.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files to check instead; `-` is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<String>,

    /// Take warnings for errors.
    #[arg(long)]
    deny_warnings: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let mut checked = Vec::new();
    for path in &args.files {
        let argument = if path == "-" { path.clone() } else { format!("@{path}") };
        let text = input::text("the file", &argument)?;
        checked.push(system.check_trigger_file(path, &text, Owner::Workspace));
    }
    if args.files.is_empty() {
        checked = system.check_triggers()?;
    }
    for file in &checked {
        show(context, file)?;
    }
    let findings = || checked.iter().flat_map(|file| &file.diagnostics);
    let errors = findings().filter(|finding| finding.is_error()).count();
    let warnings = findings().count() - errors;
    let (files, bad) = (count(checked.len() as u64, "file"), count(errors as u64, "error"));
    context.output.say(&format!("{files}: {bad}, {}", count(warnings as u64, "warning")));
    let refused = errors > 0 || (args.deny_warnings && warnings > 0);
    Ok(if refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
}

fn show(context: &Context, file: &CheckedTriggers) -> Result<(), CliError> {
    for diagnostic in &file.diagnostics {
        let row = FindingRow::of(&file.path, &file.text, diagnostic);
        let text = match context.output.format() {
            Format::Table => drawn(&file.path, &file.text, diagnostic),
            Format::Json => String::new(),
        };
        context.output.text(&text, &row)?;
    }
    Ok(())
}
