//! Whether a daemon serves, as the kernel and the daemon say together. A file alone is never believed.

use std::path::PathBuf;
use std::time::Duration;

use super::binary::Binary;
use super::lock::{self, Holder, Lookup};
use super::report::{Report, Stage, beat_now_ms};
use crate::system::System;

/// Nothing heard for so long is silence.
const SILENT_AFTER: Duration = Duration::from_secs(20);

/// How it stands with the daemon of a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonStatus {
    pub presence: Presence,
    /// What it says of itself, or said last.
    pub report: Option<Report>,
    /// Why it should be restarted: another program lies in its place.
    pub outdated: Option<String>,
    /// For how long nothing was heard of it, if that is too long.
    pub silent_ms: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    Absent,
    /// It is gone, and never said that it ends.
    Died(Holder),
    /// It lives, and has not said anything yet.
    Starting,
    Running(Holder),
    /// It holds the lock, on another machine or in another container.
    Elsewhere(Holder),
}

impl DaemonStatus {
    /// Whether it does what it should.
    pub fn is_healthy(&self) -> bool {
        matches!(self.presence, Presence::Running(_))
            && self.silent_ms.is_none()
            && self.report.as_ref().is_some_and(|report| report.stage == Stage::Healthy)
    }

    /// In one word.
    pub fn word(&self) -> &'static str {
        match (&self.presence, &self.report) {
            (Presence::Absent, _) => "not running",
            (Presence::Died(_), _) => "died",
            (Presence::Elsewhere(_), _) => "elsewhere",
            (Presence::Starting, _) | (Presence::Running(_), None) => "starting",
            (Presence::Running(_), Some(_)) if self.silent_ms.is_some() => "silent",
            (Presence::Running(_), Some(report)) => match report.stage {
                Stage::Starting => "starting",
                Stage::Healthy => "running",
                Stage::Troubled => "troubled",
                Stage::Draining => "draining",
                Stage::Stopping => "stopping",
            },
        }
    }
}

impl System {
    /// How it stands with the daemon of this data directory.
    pub fn daemon_status(&self) -> DaemonStatus {
        let (presence, holder) = match lock::look(self.places()) {
            Lookup::Nobody => (Presence::Absent, None),
            Lookup::Unnamed => (Presence::Starting, None),
            Lookup::Died(holder) => (Presence::Died(holder.clone()), Some(holder)),
            Lookup::Here(holder) => (Presence::Running(holder.clone()), Some(holder)),
            Lookup::Elsewhere(holder) => (Presence::Elsewhere(holder.clone()), Some(holder)),
        };
        let report = holder.and_then(|holder| report_of(&holder));
        let is_here = matches!(presence, Presence::Running(_));
        let running = report.as_ref().filter(|_| is_here);
        let outdated = running.and_then(|report| report.binary.outdated(Binary::own().ok().as_ref()));
        let silent_ms = running.and_then(silence);
        DaemonStatus { presence, report, outdated, silent_ms }
    }

    /// Files of a daemon that is gone.
    pub(crate) fn stale_daemon_files(&self) -> Vec<PathBuf> {
        if !matches!(lock::look(self.places()), Lookup::Nobody | Lookup::Died(_)) {
            return Vec::new();
        }
        let files = [self.places().daemon_report(), self.places().daemon_wish()];
        files.into_iter().filter(|path| path.exists()).collect()
    }
}

/// What a daemon says, if it is that one that says it.
pub(super) fn report_of(holder: &Holder) -> Option<Report> {
    let report = Report::read(&holder.run.join("daemon.json"))?;
    (report.process == holder.process).then_some(report)
}

/// For how long nothing was heard, if that is too long. One that starts may have much to do before it first looks up.
fn silence(report: &Report) -> Option<u64> {
    let silent_ms = beat_now_ms().saturating_sub(report.beat_ms);
    let is_long = u128::from(silent_ms) >= SILENT_AFTER.as_millis();
    (is_long && report.stage != Stage::Starting).then_some(silent_ms / 1000 * 1000)
}
