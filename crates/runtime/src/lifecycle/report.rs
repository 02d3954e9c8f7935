//! What a daemon says of itself, in a file of the run folder. Others read it together with what the kernel says: see `status`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use longhaul_events::{Driver, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::binary::Binary;
use crate::error::Error;

/// A daemon in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub process: Driver,
    pub version: String,
    pub binary: Binary,
    pub since: Timestamp,
    pub stage: Stage,
    /// Why it is not healthy, or why it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// When it last said anything, on a clock that nobody sets and that stands still while the machine sleeps.
    pub beat_ms: u64,
    #[serde(default)]
    pub counts: Counts,
    /// Where it can be reached.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// The unit of the service manager that it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Starting,
    Healthy,
    Troubled,
    /// It starts nothing new and waits for the end of what runs.
    Draining,
    Stopping,
}

/// What it has to do with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Tasks that somebody is at.
    pub running: u64,
    /// Tasks that wait for their turn.
    pub queued: u64,
    /// Tasks that wait for a person, a limit or another task.
    pub waiting: u64,
}

impl Report {
    /// The report at a path; `None` if there is none, or none that can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Whole or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<(), Error> {
        write_whole(path, self)
    }
}

/// Writes a file of the run folder, whole or not at all. Nothing is synced: after a crash of the machine nobody needs it.
pub(super) fn write_whole(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let failed = |source| Error::WriteFile { path: path.to_owned(), source };
    let text = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
    let mut file =
        tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("/"))).map_err(failed)?;
    file.write_all(&text).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error)).map(drop)
}

/// Now, on the clock of the beats.
pub(super) fn beat_now_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000
}
