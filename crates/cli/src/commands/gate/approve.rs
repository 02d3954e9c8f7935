//! `longhaul gate approve`: a person opens a gate.

use std::process::ExitCode;

use longhaul_runtime::types::GateVerdict;

use super::answer::{Wish, answer};
use crate::context::Context;
use crate::error::CliError;

/// Open a gate. It shows what is asked; only a person at a terminal can answer.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The gate, such as `s-041061050r3gg.12`, or its session; the session's id may be shortened.
    #[arg(value_name = "ID")]
    gate: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    answer(context, Wish { gate: &args.gate, verdict: GateVerdict::Approved, words: String::new() })
}
