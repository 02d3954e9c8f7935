//! `longhaul session cancel`: ends a session for good.

use std::process::ExitCode;

use longhaul_runtime::types::Urgency;
use longhaul_runtime::{Stop, terminal};

use super::find;
use super::row::SessionLine;
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// End a session for good. What it did stays in the log.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, alias = "because", value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    reason: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, row) = find(&system, &args.session)?;
    let reason = args.reason.as_deref().map(|reason| input::text("`--reason`", reason)).transpose()?;
    let (commands, by) = (system.commands()?, terminal::user_name());
    let stop = Stop { urgency: Urgency::Now, by, reason };
    if row.driven.agent.is_some() {
        system.stop(&commands, row.id, &stop)?;
    } else {
        system.cancel(&commands, row.id, &stop)?;
    }
    context.output.row(SessionLine::of(reader.find_session(&row.id.to_string())?))?;
    Ok(ExitCode::SUCCESS)
}
