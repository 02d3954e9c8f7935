//! `longhaul inbox reject`: keeps the gate shut that an entry is about. Exactly as `longhaul gate reject` does.

use std::process::ExitCode;

use longhaul_runtime::types::GateVerdict;

use super::{find, gate};
use crate::commands::gate::{Wish, answer};
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Keep the gate shut that an entry is about: the session fails, or after a confirmation the step is done again with your
/// words.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The entry, the beginning of its id, or the gate, session or task that it is about.
    #[arg(value_name = "ID")]
    entry: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    because: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let gate = gate(&find(&context.system()?, &args.entry)?)?;
    let words = input::text("`--because`", &args.because)?;
    answer(context, Wish { gate: &gate, verdict: GateVerdict::Rejected, words })
}
