//! `longhaul gc`: what can be thrown away, and why; with `--apply`, throws it away.

use std::process::ExitCode;

use longhaul_runtime::OldLog;
use longhaul_runtime::types::{Action, Target, show_size};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Row, count};

/// Show what is no longer needed and may be thrown away; events never are.
///
/// How long the contents of closed sessions are kept is the setting `retention.blobs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Throw it away.
    #[arg(long)]
    apply: bool,
}

#[derive(Debug, Serialize)]
struct ActionRow<'a> {
    kind: &'static str,
    what: String,
    bytes: u64,
    because: &'a str,
}

impl Row for ActionRow<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("KIND", self.kind.to_owned()),
            ("SIZE", show_size(self.bytes)),
            ("BECAUSE", self.because.to_owned()),
            ("WHAT", self.what.clone()),
        ]
    }
}

impl<'a> ActionRow<'a> {
    fn of(action: &'a Action) -> Self {
        let (kind, what) = match &action.what {
            Target::Blob(hash) => ("blob", hash.to_string()),
            Target::LooseFile(path) => ("file", path.clone()),
        };
        Self { kind, what, bytes: action.bytes, because: &action.because }
    }

    fn of_log(old: &'a OldLog) -> Self {
        Self { kind: "log", what: old.path.display().to_string(), bytes: old.bytes, because: &old.because }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let config = system.config()?;
    let Some(commands) = system.existing_commands()? else {
        context.output.say("nothing is stored yet");
        return Ok(ExitCode::SUCCESS);
    };
    let plan = commands.plan_collection(&config)?;
    let logs = system.old_logs();
    let of_logs = logs.iter().map(ActionRow::of_log);
    let rows: Vec<ActionRow<'_>> = plan.actions.iter().map(ActionRow::of).chain(of_logs).collect();
    // First the deed: whoever reads the rows may go away in the middle of them.
    let collected =
        if args.apply { Some((commands.collect(&plan)?, system.remove_old_logs())) } else { None };
    context.output.rows(&rows)?;
    if rows.is_empty() {
        context.output.say("there is nothing to throw away");
    } else if let Some((collected, log_bytes)) = collected {
        let files = collected.files + u64::try_from(logs.len()).unwrap_or(0);
        let (blobs, files) = (count(collected.blobs, "blob"), count(files, "file"));
        let size = show_size(collected.bytes + log_bytes);
        context.output.say(&format!("threw away {blobs} and {files}, {size}"));
    } else {
        let size = show_size(rows.iter().map(|row| row.bytes).sum());
        context.output.say(&format!("nothing was thrown away; `longhaul gc --apply` frees {size}"));
    }
    if let Some(warning) = plan.warning {
        context.output.say(&format!("warning: {warning}"));
    }
    Ok(ExitCode::SUCCESS)
}
