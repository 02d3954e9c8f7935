//! `longhaul workflow validate`: whether files are right, and where they are not.

use std::process::ExitCode;

use longhaul_runtime::workflows::Checked;

use super::report::{FindingRow, drawn};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Format, count};

/// What is exited with when a file is refused.
const REFUSED: u8 = 3;

/// Check workflow files, and say where they are wrong and how to put them right.
///
/// The files may use one another and all that `longhaul workflow list` shows. It exits with 3 if a file has errors.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Workflow files, `.yml`, `.yaml` or `.json`, or ids from the list; `-` is standard input.
    #[arg(value_name = "FILE|ID", required = true)]
    files: Vec<String>,

    /// Take warnings for errors.
    #[arg(long)]
    deny_warnings: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let paths: Vec<&str> = args.files.iter().map(String::as_str).collect();
    let checked = context.system()?.catalog()?.check_here(&paths);
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

fn show(context: &Context, file: &Checked) -> Result<(), CliError> {
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
