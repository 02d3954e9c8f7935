//! `longhaul agent rm`: takes away an agent that somebody added.

use std::process::ExitCode;

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Take away an agent that you added; sessions that it does go on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name; `longhaul agent list` shows the names.
    name: String,
}

#[derive(Debug, Serialize)]
struct RemovedRow {
    name: String,
    change: &'static str,
    path: String,
}

impl Row for RemovedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("NAME", self.name.clone()), ("CHANGE", self.change.to_owned()), ("FILE", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let path = context.system()?.remove_agent(&args.name)?.display().to_string();
    context.output.row(RemovedRow { name: args.name.clone(), change: "removed", path })?;
    Ok(ExitCode::SUCCESS)
}
