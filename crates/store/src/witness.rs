//! A second memory of how far the log has come.
//!
//! SQLite takes a damaged write-ahead log for one that was torn by a crash, and quietly goes back to what came
//! before: acknowledged decisions vanish without an error. So after each commit its position is written to a
//! small file of its own. The file is not synced: after a power cut it may be behind the log, which proves
//! nothing, but it is never ahead of a log that is whole.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use longhaul_core::canonical::sha256;
use longhaul_events::Position;

use crate::error::StoreError;

const LENGTH: usize = 24;

#[derive(Debug)]
pub(crate) struct Witness(File);

impl Witness {
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let path = path(folder);
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        Ok(Self(file.map_err(StoreError::file("open", path))?))
    }

    /// Best effort: a witness that could not write is only less of a witness.
    pub(crate) fn saw(&self, position: Position) {
        let _ = self.0.write_all_at(&statement(position), 0);
    }
}

/// What was last seen committed; nothing if there is no statement or it is damaged.
pub(crate) fn testimony(folder: &Path) -> Position {
    let Ok(bytes) = std::fs::read(path(folder)) else { return Position(0) };
    let stated = bytes.first_chunk::<8>().map_or(Position(0), |bytes| Position(u64::from_be_bytes(*bytes)));
    if bytes == statement(stated) { stated } else { Position(0) }
}

/// Lets go of what was seen, when another database takes the place of the one it was about.
pub(crate) fn dismiss(folder: &Path) {
    let _ = std::fs::remove_file(path(folder));
}

fn path(folder: &Path) -> PathBuf {
    folder.join("longhaul.last")
}

fn statement(position: Position) -> [u8; LENGTH] {
    let number = position.0.to_be_bytes();
    let check = sha256(&[b"longhaul/last/".as_slice(), &number].concat()).0;
    std::array::from_fn(|n| if n < 8 { number[n] } else { check[n - 8] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_told_and_a_damaged_statement_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(testimony(folder.path()), Position(0));
        let witness = Witness::open(folder.path()).unwrap();
        witness.saw(Position(300));
        witness.saw(Position(301));
        assert_eq!(testimony(folder.path()), Position(301));
        let mut bytes = std::fs::read(path(folder.path())).unwrap();
        bytes[6] ^= 1;
        std::fs::write(path(folder.path()), bytes).unwrap();
        assert_eq!(testimony(folder.path()), Position(0));
    }
}
