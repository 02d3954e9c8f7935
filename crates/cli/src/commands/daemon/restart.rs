//! `longhaul daemon restart`: has another program serve, or the same one anew.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use longhaul_runtime::lifecycle::{RestartDaemon, Restarted};
use serde_json::json;

use super::Serving;
use crate::called;
use crate::context::Context;
use crate::error::CliError;

/// Have this `longhaul` serve in place of the one that does. Runners are not touched, and nothing is lost.
///
/// The new one first says whether it could serve; then the old one hands over. If the new one is not healthy in time, the old
/// program serves again, and the exit code is 4.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long the new one may take to become healthy.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::wait)]
    wait: Duration,

    /// Another program than this one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let binary = match &args.binary {
        Some(binary) => std::path::absolute(binary).map_err(CliError::file("find", binary))?,
        None => called::program()?,
    };
    let restarted = context.system()?.restart_daemon(&RestartDaemon { binary, wait: args.wait })?;
    let (before, after) = match &restarted {
        Restarted::Started(report) => (None, report),
        Restarted::Replaced { before, after } => (Some(before), after),
    };
    let now =
        format!("longhaul {} serves as process {} and is healthy", after.version, after.process.process);
    context.output.say(&match before {
        None => format!("no daemon was running; {now}"),
        Some(before) => format!("{now}, in place of {}", before.in_words()),
    });
    let before = before.map(|before| json!({ "process": before.process.process, "version": before.version }));
    context.output.text("", &json!({ "before": before, "daemon": Serving::of(after) }))?;
    Ok(ExitCode::SUCCESS)
}
