//! Who uses the data directory: every open store holds a shared lock, and what must be alone takes it whole.
//!
//! The kernel lets go of the lock when a process dies, so nothing has to be cleaned up.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::StoreError;

#[derive(Debug)]
pub(crate) struct Presence {
    _held: File,
}

impl Presence {
    /// Says that we are here; waits while somebody needs to be alone.
    pub(crate) fn join(folder: &Path) -> Result<Self, StoreError> {
        Self::hold(&folder.join("longhaul.lock"), |file| file.lock_shared().map_err(TryLockError::Error))
    }

    /// Waits to be the only one who makes or migrates the database.
    pub(crate) fn setting_up(folder: &Path) -> Result<Self, StoreError> {
        Self::hold(&folder.join("setup.lock"), |file| file.lock().map_err(TryLockError::Error))
    }

    /// Waits until nobody else is there, and keeps them out.
    pub(crate) fn wait_alone(folder: &Path) -> Result<Self, StoreError> {
        Self::hold(&folder.join("longhaul.lock"), |file| file.lock().map_err(TryLockError::Error))
    }

    /// Keeps everybody else out, or says that somebody is there.
    pub(crate) fn alone(folder: &Path, doing: &'static str) -> Result<Self, StoreError> {
        let path = folder.join("longhaul.lock");
        match Self::hold(&path, File::try_lock) {
            Err(StoreError::Busy { .. }) => Err(StoreError::InUse { lock: path, doing }),
            held => held,
        }
    }

    fn hold(path: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<Self, StoreError> {
        let error = |doing| StoreError::file(doing, path);
        loop {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
            let file = opened.map_err(error("open"))?;
            match lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(StoreError::Busy { waited_ms: 0 }),
                Err(TryLockError::Error(source)) => return Err(error("lock")(source)),
            }
            // While we waited the file may have been deleted: then the next one locks another.
            if is_at(&file, path).map_err(error("look at"))? {
                return Ok(Self { _held: file });
            }
        }
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((held.dev(), held.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
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

    #[test]
    fn a_lock_on_a_file_that_was_deleted_meanwhile_is_taken_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("longhaul.lock");
        let deleted = std::cell::Cell::new(false);
        let held = Presence::hold(&path, |file| {
            if !deleted.replace(true) {
                std::fs::remove_file(&path).unwrap(); // as if it happened while we waited
            }
            file.try_lock()
        });
        let _held = held.unwrap();
        let second = Presence::alone(folder.path(), "a test");
        assert!(
            matches!(second, Err(StoreError::InUse { .. })),
            "what is locked is the file that others find"
        );
    }
}
