//! `longhaul secret rm`: forgets a secret.

use std::process::ExitCode;

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Forget a secret. What was stored while it was known stays without it; what comes later is not searched for it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its name; `longhaul secret list` shows the names.
    name: String,
}

#[derive(Debug, Serialize)]
struct RemovedRow {
    name: String,
    change: &'static str,
}

impl Row for RemovedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("NAME", self.name.clone()), ("CHANGE", self.change.to_owned())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    context.system()?.remove_secret(&args.name)?;
    context.output.row(RemovedRow { name: args.name.clone(), change: "removed" })?;
    Ok(ExitCode::SUCCESS)
}
