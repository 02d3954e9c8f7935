//! `longhaul artifact show`: one artifact.

use std::process::ExitCode;

use super::{find, written};
use crate::context::Context;
use crate::error::CliError;
use crate::output::lines;

/// Show an artifact: a text as it is, all else as JSON.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The artifact, such as `s-041061050r3gg.4.1`; the session's id may be shortened.
    id: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let artifact = find(&context.system()?, &args.id)?;
    context.output.text(&lines(&written(&artifact.value), ""), &artifact)?;
    Ok(ExitCode::SUCCESS)
}
