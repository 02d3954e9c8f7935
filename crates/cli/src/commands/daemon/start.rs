//! `longhaul daemon start`: has a daemon serve in the background.

use std::process::ExitCode;
use std::time::Duration;

use longhaul_runtime::lifecycle::{StartDaemon, Started};
use serde_json::json;

use super::Serving;
use crate::called;
use crate::context::Context;
use crate::error::CliError;

/// Have a daemon serve in the background. It is started when it says that it is healthy, and not before.
///
/// If it does not, what it said last is shown, nothing is left running, and the exit code is 4.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long it may take to become healthy.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::wait)]
    wait: Duration,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let start = StartDaemon { binary: called::program()?, wait: args.wait };
    let started = context.system()?.start_daemon(&start)?;
    let (report, is_new) = match &started {
        Started::New(report) => (report, true),
        Started::Already(report) => (report, false),
    };
    let process = report.process.process;
    context.output.say(&if is_new {
        format!("started: longhaul {} serves as process {process} and is healthy", report.version)
    } else {
        format!("nothing to start: longhaul {} serves already, as process {process}", report.version)
    });
    context.output.text("", &json!({ "started": is_new, "daemon": Serving::of(report) }))?;
    Ok(ExitCode::SUCCESS)
}
