//! `longhaul workflow schema`: the JSON Schema of a format, for editors.

use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_runtime::workflows::{native_schema, workrail_schema};

use crate::context::Context;
use crate::error::CliError;

/// Print the JSON Schema of workflow files, so that an editor can complete and check them.
///
/// Save it, then say so in the first line of a file:
/// `# yaml-language-server: $schema=PATH`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which of the two formats.
    #[arg(default_value = "native")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Native,
    Workrail,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let schema = match args.format {
        Format::Native => native_schema(),
        Format::Workrail => workrail_schema(),
    };
    let text = serde_json::to_string_pretty(&schema).expect("a schema has string keys only") + "\n";
    context.output.text(&text, &schema)?;
    Ok(ExitCode::SUCCESS)
}
