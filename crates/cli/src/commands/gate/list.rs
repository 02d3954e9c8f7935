//! `longhaul gate list`: what waits for a person.

use std::process::ExitCode;

use longhaul_runtime::{Clock as _, SystemClock};

use super::row::GateLine;
use crate::context::Context;
use crate::error::CliError;

/// List the gates that wait, the one whose time ends first on top.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context, _: &Args) -> Result<ExitCode, CliError> {
    let gates = match context.system()?.reader()? {
        Some(reader) => reader.gates(SystemClock.now())?,
        None => Vec::new(),
    };
    context.output.rows(&gates.iter().map(GateLine).collect::<Vec<_>>())?;
    if gates.is_empty() {
        context.output.say("no gate waits");
    }
    Ok(ExitCode::SUCCESS)
}
