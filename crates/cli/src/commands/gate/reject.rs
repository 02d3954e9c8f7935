//! `longhaul gate reject`: a person keeps a gate shut.

use std::process::ExitCode;

use longhaul_runtime::types::GateVerdict;

use super::answer::{Wish, answer};
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Keep a gate shut: the session fails, or after a confirmation the step is done again with your words.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The gate, such as `s-041061050r3gg.12`, or its session; the session's id may be shortened.
    #[arg(value_name = "ID")]
    gate: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, alias = "because", value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    reason: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let words = input::text("`--reason`", &args.reason)?;
    answer(context, Wish { gate: &args.gate, verdict: GateVerdict::Rejected, words })
}
