//! `longhaul session rewind`: goes back to an earlier step, on purpose.

use std::process::ExitCode;

use longhaul_runtime::types::StepId;
use longhaul_runtime::{Rewind, terminal};

use super::find;
use crate::context::Context;
use crate::error::CliError;
use crate::{input, step};

/// Take a session back to a step that it handed out before.
///
/// What came after that step stays in the log and is left behind. The worktree of a session that has one is put back to
/// what it was when the step began, after a snapshot; files of your own checkout are not touched.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// The step to go back to, as it was last handed out.
    #[arg(long, value_name = "STEP")]
    to: String,

    /// Why; `-` reads standard input, `@FILE` a file.
    #[arg(long, alias = "because", value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    reason: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, row) = find(&system, &args.session)?;
    let reason = input::text("`--reason`", &args.reason)?;
    let rewind = Rewind { session: row.id, step: StepId(args.to.clone()), reason, by: terminal::user_name() };
    step::show(context, &system.rewind(&system.commands()?, &rewind)?)
}
