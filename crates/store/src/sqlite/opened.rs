//! Whether the database is still where it was opened.
//!
//! SQLite goes on writing into a file that was deleted or replaced, and says that all is well; nobody will ever
//! read what it wrote.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// The file that was opened. It is only looked at: to open and close it would let go of SQLite's locks.
#[derive(Debug)]
pub(super) struct OpenedFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OpenedFile {
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
        let found = fs::metadata(path).map_err(StoreError::file("look at", path))?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    /// Asked after a commit and before anybody is told of it.
    pub(super) fn is_in_place(&self) -> Result<(), StoreError> {
        let replaced = || StoreError::Replaced { path: self.path.clone() };
        match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => Ok(()),
            Ok(_) => Err(replaced()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(replaced())
            }
            // Nobody can tell whether it is the same file.
            Err(_) => Err(StoreError::OutcomeUnknown(None)),
        }
    }
}
