//! `longhaul daemon`: whoever drives tasks when nobody is at the keyboard, from its start to its end.

mod install;
mod openapi;
mod restart;
mod run;
mod start;
mod status;
mod stop;
mod uninstall;

use std::process::ExitCode;
use std::time::Duration;

use longhaul_runtime::lifecycle::Report;
use longhaul_runtime::types::{parse_duration_ms, rfc3339};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;

/// Take tasks in and drive them when nobody is at the keyboard.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Run(run::Args),
    Start(start::Args),
    Stop(stop::Args),
    Status(status::Args),
    Restart(restart::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Openapi(openapi::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Run(args) => run::run(context, args),
            Self::Start(args) => start::run(context, args),
            Self::Stop(args) => stop::run(context, args),
            Self::Status(args) => status::run(context, args),
            Self::Restart(args) => restart::run(context, args),
            Self::Install(args) => install::run(context, args),
            Self::Uninstall(args) => uninstall::run(context, args),
            Self::Openapi(args) => openapi::run(context, args),
        }
    }
}

/// A daemon that serves, for scripts.
#[derive(Debug, Serialize)]
struct Serving {
    process: u32,
    version: String,
    since: String,
    addresses: Vec<String>,
}

impl Serving {
    fn of(report: &Report) -> Self {
        let Report { process, version, since, addresses, .. } = report.clone();
        Self { process: process.process, version, since: rfc3339(since), addresses }
    }
}

fn wait(text: &str) -> Result<Duration, String> {
    parse_duration_ms(text).map(Duration::from_millis).map_err(|error| error.to_string())
}
