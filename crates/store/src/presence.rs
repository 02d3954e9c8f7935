//! Who uses the data directory: every open store holds a shared lock, and what must be alone takes it whole.
//!
//! The kernel lets go of the lock when a process dies, so nothing has to be cleaned up.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

#[derive(Debug)]
pub(crate) struct Presence {
    _held: File,
}

impl Presence {
    /// Says that we are here; waits while somebody needs to be alone.
    pub(crate) fn join(folder: &Path) -> Result<Self, StoreError> {
        let (path, file) = open(folder, "longhaul.lock")?;
        file.lock_shared().map_err(StoreError::file("lock", path))?;
        Ok(Self { _held: file })
    }

    /// Waits to be the only one who makes or migrates the database.
    pub(crate) fn setting_up(folder: &Path) -> Result<Self, StoreError> {
        let (path, file) = open(folder, "setup.lock")?;
        file.lock().map_err(StoreError::file("lock", path))?;
        Ok(Self { _held: file })
    }

    /// Keeps everybody else out, or says that somebody is there.
    pub(crate) fn alone(folder: &Path, doing: &'static str) -> Result<Self, StoreError> {
        let (path, file) = open(folder, "longhaul.lock")?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _held: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { lock: path, doing }),
            Err(TryLockError::Error(error)) => Err(StoreError::file("lock", path)(error)),
        }
    }
}

fn open(folder: &Path, name: &str) -> Result<(PathBuf, File), StoreError> {
    let path = folder.join(name);
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(StoreError::file("open", &path))?;
    Ok((path, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_who_must_be_alone_waits_for_nobody_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let here = Presence::join(folder.path()).unwrap();
        let also_here = Presence::join(folder.path()).unwrap();
        assert!(matches!(Presence::alone(folder.path(), "a test"), Err(StoreError::InUse { .. })));
        drop((here, also_here));
        assert!(Presence::alone(folder.path(), "a test").is_ok());
    }
}
