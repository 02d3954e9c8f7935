//! `longhaul runner`: the process that performs the engine's own steps. Started by us, never by people.

use std::process::ExitCode;

use longhaul_runtime::types::SessionId;
use longhaul_runtime::{LogOrigin, run_apart};

use crate::context::Context;
use crate::error::CliError;

pub(crate) const NAME: &str = "runner";

/// Perform the work that a session waits for.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session.
    session: SessionId,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let session = Some(args.session);
    context.keep_log(LogOrigin { process: NAME.to_owned(), session, task: None });
    run_apart(&context.system()?.serving(longhaul_mcp::leaf_door), args.session)?;
    Ok(ExitCode::SUCCESS)
}
