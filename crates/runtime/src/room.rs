//! How much room is left where everything is kept.

use std::path::Path;

use longhaul_store::StoreError;
use rustix::fs::statvfs;

use crate::error::Error;
use crate::system::System;

/// With less than this nothing can be relied on: a commit may need several pages at once.
const FULL_BYTES: u64 = 1 << 20;

/// What is free on the disk of a folder, for us; `None` if that cannot be told.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let found = statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

impl System {
    /// Whether the disk is what is wrong, in place of an error that only says what came of it.
    pub(crate) fn or_full_disk(&self, error: Error) -> Error {
        let is_full = free_bytes(&self.places().data).is_some_and(is_full);
        if is_full { Error::Store(StoreError::DiskFull) } else { error }
    }

    pub(crate) fn check_room(&self) -> Result<(), Error> {
        match free_bytes(&self.places().data) {
            Some(free) if is_full(free) => Err(Error::Store(StoreError::DiskFull)),
            Some(_) | None => Ok(()),
        }
    }
}

pub(crate) const fn is_full(free_bytes: u64) -> bool {
    free_bytes < FULL_BYTES
}
