//! Locks that git leaves behind when it is killed. Must never take one from a process that lives.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Checkout;
use crate::Error;

/// What became of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lock {
    Absent,
    /// Whoever made it is dead.
    Cleared,
    /// By this process, as far as can be told.
    Held {
        by: Option<u32>,
    },
}

impl Checkout {
    /// Clears the lock of the index if nobody who lives can have it.
    ///
    /// Git writes no name into it. It is stale only if no process has it open and no git that runs could be at
    /// work here: one may have closed it and wait for an editor.
    pub fn clear_stale_lock(&self) -> Result<Lock, Error> {
        let lock = self.git_dir.join("index.lock");
        match fs::symlink_metadata(&lock) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Absent),
            Err(error) => return Err(Error::file("look at", &lock)(error)),
            Ok(_) => {}
        }
        match holder(&lock, &[&self.path, &self.git_dir]) {
            Holder::Nobody => match fs::remove_file(&lock) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(Error::file("remove", &lock)(error))
                }
                _ => Ok(Lock::Cleared),
            },
            Holder::Process(id) => Ok(Lock::Held { by: Some(id) }),
            Holder::Unknown => Ok(Lock::Held { by: None }),
        }
    }
}

enum Holder {
    Nobody,
    Process(u32),
    /// Processes cannot be looked at here.
    Unknown,
}

fn holder(lock: &Path, places: &[&Path]) -> Holder {
    let Ok(processes) = fs::read_dir("/proc") else { return Holder::Unknown };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut seen = false;
    for id in ids {
        seen = true;
        let process = PathBuf::from(format!("/proc/{id}"));
        if has_open(&process, lock) || is_git_at_work(&process, places) {
            return Holder::Process(id);
        }
    }
    if seen { Holder::Nobody } else { Holder::Unknown }
}

fn has_open(process: &Path, lock: &Path) -> bool {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| target == lock)
}

fn is_git_at_work(process: &Path, places: &[&Path]) -> bool {
    if !fs::read(process.join("comm")).is_ok_and(|name| name.starts_with(b"git")) {
        return false;
    }
    // A dead process that nobody has asked for yet still has a name.
    if fs::read(process.join("cmdline")).is_ok_and(|line| line.is_empty()) {
        return false;
    }
    match fs::read_link(process.join("cwd")) {
        Ok(folder) => {
            let called = fs::read(process.join("cmdline")).unwrap_or_default();
            let names = |place: &Path| holds(&called, place.as_os_str().as_bytes());
            places.iter().any(|place| folder.starts_with(place) || names(place))
        }
        // Somebody else's, at work who knows where.
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
