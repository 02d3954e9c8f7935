//! One daemon for each data directory: whoever holds the lock serves. The kernel gives it back when its holder dies, so it is
//! never stale; what is written in the file only says who that is.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use longhaul_events::Driver;
use serde::{Deserialize, Serialize};

use crate::error::{Error, LifecycleError};
use crate::places::Places;
use crate::runner::{is_alive, is_dead};

/// Whoever only looks holds it for a moment, and whoever has just taken it has not said yet who it is.
const TRY_FOR: Duration = Duration::from_secs(1);
const TRY_EVERY: Duration = Duration::from_millis(10);

/// Who holds the lock, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub process: Driver,
    pub version: String,
    /// Its run folder, which may be another than ours.
    pub run: PathBuf,
}

impl Holder {
    pub fn in_words(&self) -> String {
        format!("process {} of longhaul {}", self.process.process, self.version)
    }
}

/// The lock, while it is held.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    pub(super) fn take(places: &Places, holder: &Holder) -> Result<Self, Error> {
        let path = places.daemon_lock();
        let failed = |source| Error::WriteFile { path: path.clone(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => return Err(failed(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            let known = read(&path).filter(|known| !is_dead(&known.process));
            if known.is_some() || start.elapsed() >= TRY_FOR {
                let holder =
                    known.map_or_else(|| "it has not said who it is".to_owned(), |known| known.in_words());
                return Err(LifecycleError::Held { holder }.into());
            }
            thread::sleep(TRY_EVERY);
        }
        let mut lock = Self { file };
        lock.say(holder).map_err(failed)?;
        Ok(lock)
    }

    fn say(&mut self, holder: &Holder) -> std::io::Result<()> {
        let text = serde_json::to_vec(holder)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)
    }
}

/// The file stays, because somebody may wait for the lock of exactly this file. What it says goes: who ends properly is not
/// taken for one that died.
impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
    }
}

/// Who holds the lock, or held it when they died.
pub(super) fn read(path: &Path) -> Option<Holder> {
    let text = fs::read(path).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whether somebody holds the lock at this moment.
fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// What the lock tells of a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lookup {
    Nobody,
    /// Somebody died holding it.
    Died(Holder),
    /// It lives, as a process of this machine.
    Here(Holder),
    /// It holds the lock, and its process cannot be seen from here.
    Elsewhere(Holder),
    /// Somebody holds it who has not said yet who it is.
    Unnamed,
}

pub(super) fn look(places: &Places) -> Lookup {
    let path = places.daemon_lock();
    match read(&path) {
        Some(holder) if is_alive(&holder.process) => Lookup::Here(holder),
        Some(holder) if is_dead(&holder.process) => Lookup::Died(holder),
        // The system does not tell, or the process is one of another machine or container.
        Some(holder) if is_held(&path) => {
            let is_untold = longhaul_exec::started_ticks().is_none();
            if is_untold { Lookup::Here(holder) } else { Lookup::Elsewhere(holder) }
        }
        Some(holder) => Lookup::Died(holder),
        None if is_held(&path) => Lookup::Unnamed,
        None => Lookup::Nobody,
    }
}
