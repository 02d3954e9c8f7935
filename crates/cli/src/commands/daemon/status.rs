//! `longhaul daemon status`: whether a daemon serves, and how it is doing.

use std::process::ExitCode;

use longhaul_runtime::lifecycle::{Counts, DaemonStatus, Presence};
use longhaul_runtime::types::{rfc3339, show_duration};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, ENVIRONMENT};
use crate::moment;
use crate::output::Row;

/// Show whether a daemon serves, since when, and how it is doing.
///
/// Exits with 0 if it runs and is healthy, else with 4. What a daemon that died has left is never taken for one that runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Debug, Serialize)]
struct StatusRow {
    state: &'static str,
    healthy: bool,
    process: Option<u32>,
    version: Option<String>,
    since: Option<String>,
    counts: Option<Counts>,
    addresses: Vec<String>,
    unit: Option<String>,
    because: Option<String>,
    /// Why it should be restarted.
    outdated: Option<String>,
}

impl StatusRow {
    fn of(status: &DaemonStatus) -> Self {
        let holder = match &status.presence {
            Presence::Running(holder) | Presence::Died(holder) | Presence::Elsewhere(holder) => Some(holder),
            Presence::Absent | Presence::Starting => None,
        };
        let report = status.report.as_ref();
        let is_here = matches!(status.presence, Presence::Running(_));
        Self {
            state: status.word(),
            healthy: status.is_healthy(),
            process: holder.map(|holder| holder.process.process),
            version: holder.map(|holder| holder.version.clone()),
            since: report.map(|report| rfc3339(report.since)),
            counts: report.filter(|_| is_here).map(|report| report.counts),
            addresses: report.filter(|_| is_here).map(|report| report.addresses.clone()).unwrap_or_default(),
            unit: report.and_then(|report| report.unit.clone()),
            because: because(status),
            outdated: status.outdated.clone(),
        }
    }
}

fn because(status: &DaemonStatus) -> Option<String> {
    match (&status.presence, status.silent_ms) {
        (Presence::Died(_), _) => Some(
            "it died without a word; its runners go on by themselves, and `longhaul daemon start` starts another".to_owned(),
        ),
        (Presence::Elsewhere(_), _) => Some("it runs on another machine or in another container".to_owned()),
        (Presence::Running(_), Some(ms)) => {
            Some(format!("nothing was heard of it for {}; `longhaul daemon restart` starts another", show_duration(ms)))
        }
        (Presence::Running(_), None) => status.report.as_ref()?.because.clone(),
        (Presence::Absent | Presence::Starting, _) => None,
    }
}

impl Row for StatusRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let counts = self.counts.map(|counts| (counts.running, counts.queued, counts.waiting));
        let (running, queued, waiting) = counts.unwrap_or_default();
        let number = |number: u64| if counts.is_some() { number.to_string() } else { "-".to_owned() };
        vec![
            ("STATE", self.state.to_owned()),
            ("PROCESS", text(self.process.map(|process| process.to_string()))),
            ("VERSION", text(self.version.clone())),
            ("SINCE", text(self.since.as_deref().map(moment::shown))),
            ("RUNNING", number(running)),
            ("QUEUED", number(queued)),
            ("WAITING", number(waiting)),
        ]
    }
}

pub(crate) fn run(context: &Context, _args: &Args) -> Result<ExitCode, CliError> {
    let status = context.system()?.daemon_status();
    let row = StatusRow::of(&status);
    let (because, outdated) = (row.because.clone(), row.outdated.clone());
    context.output.row(row)?;
    if let Some(because) = because {
        context.output.say(&because);
    }
    if let Some(outdated) = outdated {
        context.output.say(&format!("{outdated}; `longhaul daemon restart` uses the new one"));
    }
    Ok(if status.is_healthy() { ExitCode::SUCCESS } else { ExitCode::from(ENVIRONMENT) })
}
