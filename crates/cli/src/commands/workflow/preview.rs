//! `longhaul workflow preview`: what a workflow would do, as a tree or a drawing.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_runtime::terminal;
use longhaul_runtime::types::Workflow;
use longhaul_runtime::workflows::{Entry, Problem, Report, preview};
use serde_json::json;

use crate::context::Context;
use crate::error::CliError;

/// Show what a workflow would do, as a tree or a drawing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, as `longhaul workflow list` shows it, or a file.
    #[arg(value_name = "ID|FILE")]
    workflow: String,

    /// A tree of text, a drawing, or a flowchart for tools that draw Mermaid.
    #[arg(long, default_value = "text")]
    format: Drawing,

    /// Write to this new file instead of standard output (`-`).
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    Text,
    Svg,
    Mermaid,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let entry = context.system()?.catalog()?.find_or_read(&args.workflow)?;
    let Some(workflow) = &entry.workflow else { return Err(invalid(&entry).into()) };
    let (name, drawing) = match args.format {
        Drawing::Text => ("text", tree(workflow)),
        Drawing::Svg => ("svg", preview::svg_standalone(workflow)),
        Drawing::Mermaid => ("mermaid", preview::mermaid(workflow)),
    };
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            write(path, &drawing)?;
            let file = path.display().to_string();
            context.output.say(&format!("wrote `{file}`"));
            context.output.text("", &json!({"id": entry.id, "format": name, "file": file}))?;
        }
        None => {
            context.output.text(&drawing, &json!({"id": entry.id, "format": name, "preview": drawing}))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The tree, safe for a terminal: its words are the author's.
pub(super) fn tree(workflow: &Workflow) -> String {
    preview::text(workflow).lines().map(|line| terminal::visible(line) + "\n").collect()
}

fn invalid(entry: &Entry) -> longhaul_runtime::Error {
    let errors = entry.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let errors = errors.map(|error| Report::new(&entry.path, &entry.text, error).to_string()).collect();
    Problem::Invalid { path: entry.path.clone(), errors }.into()
}

fn write(path: &Path, drawing: &str) -> Result<(), CliError> {
    let file = fs::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = file.map_err(CliError::file("write", path))?;
    file.write_all(drawing.as_bytes()).map_err(CliError::file("write", path))
}
