//! Locks that git leaves behind when it is killed. Must never take one from a process that lives.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
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
        let owner = match fs::symlink_metadata(&lock) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::Absent),
            Err(error) => return Err(Error::file("look at", &lock)(error)),
            Ok(found) => found.uid(),
        };
        match holder(&Sought { lock: &lock, owner, places: [&self.path, &self.git_dir] }) {
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

/// A lock, whose it is, and where its maker would be at work.
struct Sought<'a> {
    lock: &'a Path,
    owner: u32,
    places: [&'a Path; 2],
}

fn holder(sought: &Sought<'_>) -> Holder {
    let Ok(processes) = fs::read_dir("/proc") else { return Holder::Unknown };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut seen = false;
    for id in ids {
        seen = true;
        let process = PathBuf::from(format!("/proc/{id}"));
        if has_open(&process, sought.lock) || is_git_at_work(&process, sought) {
            return Holder::Process(id);
        }
    }
    if seen { Holder::Nobody } else { Holder::Unknown }
}

fn has_open(process: &Path, lock: &Path) -> bool {
    let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|target| target == lock)
}

fn is_git_at_work(process: &Path, sought: &Sought<'_>) -> bool {
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
            sought.places.iter().any(|place| folder.starts_with(place) || names(place))
        }
        // At work who knows where. Whoever is another user than the owner of the lock has not made it.
        Err(error) => {
            error.kind() == io::ErrorKind::PermissionDenied
                && user_of(process).is_none_or(|user| user == sought.owner)
        }
    }
}

/// As whom a process makes files.
fn user_of(process: &Path) -> Option<u32> {
    let status = fs::read_to_string(process.join("status")).ok()?;
    // Real, effective, saved and of the file system.
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(3)?.parse().ok()
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_makes_files_as_the_user_that_its_files_belong_to() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(user_of(Path::new("/proc/self")), Some(file.as_file().metadata().unwrap().uid()));
        assert_eq!(user_of(Path::new("/proc/1")), Some(0));
        assert_eq!(user_of(Path::new("/proc/0")), None);
    }
}
