//! `longhaul workspace list`: what is registered.

use std::process::ExitCode;

use super::row::WorkspaceRow;
use crate::context::Context;
use crate::error::CliError;

/// List the registered repositories, and whether their `.longhaul/` is trusted.
///
/// TRUST is `trusted`; `changed` if it was trusted and is different now; `untrusted`; `absent` if there is no
/// `.longhaul/`; `unknown` if it cannot be looked at.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _: &Args) -> Result<ExitCode, CliError> {
    let rows = match context.system()?.reader()? {
        Some(reader) => WorkspaceRow::all(&reader)?,
        None => Vec::new(),
    };
    context.output.rows(&rows)?;
    if rows.is_empty() {
        context.output.say("no workspace is registered; `longhaul workspace add` registers one");
    }
    Ok(ExitCode::SUCCESS)
}
