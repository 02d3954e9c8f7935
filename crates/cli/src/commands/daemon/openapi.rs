//! `longhaul daemon openapi`: what the control API offers.

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Print the `OpenAPI` description of the control API. No daemon has to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _: &Args) -> Result<ExitCode, CliError> {
    let description = longhaul_web::description();
    let shown = serde_json::to_string_pretty(&description).expect("a description has string keys only");
    context.output.text(&format!("{shown}\n"), &description)?;
    Ok(ExitCode::SUCCESS)
}
