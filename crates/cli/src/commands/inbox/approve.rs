//! `longhaul inbox approve`: opens the gate that an entry is about. Exactly as `longhaul gate approve` does.

use std::process::ExitCode;

use longhaul_runtime::types::GateVerdict;

use super::{find, gate};
use crate::commands::gate::{Wish, answer};
use crate::context::Context;
use crate::error::CliError;

/// Open the gate that an entry is about. It shows what is asked; only a person at a terminal can answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The entry, the beginning of its id, or the gate, session or task that it is about.
    #[arg(value_name = "ID")]
    entry: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let gate = gate(&find(&context.system()?, &args.entry)?)?;
    answer(context, Wish { gate: &gate, verdict: GateVerdict::Approved, words: String::new() })
}
