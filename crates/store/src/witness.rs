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

/// Names one database; a restored or salvaged one is another.
pub(crate) type Identity = [u8; 8];

const LENGTH: usize = 32;

#[derive(Debug)]
pub(crate) struct Witness {
    file: File,
    about: Identity,
}

impl Witness {
    pub(crate) fn open(folder: &Path, about: Identity) -> Result<Self, StoreError> {
        let path = path(folder);
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        Ok(Self { file: file.map_err(StoreError::file("open", path))?, about })
    }

    /// Best effort: a witness that could not write is only less of a witness.
    pub(crate) fn saw(&self, position: Position) {
        let _ = self.file.write_all_at(&statement(self.about, position), 0);
    }
}

/// What was last seen committed, and in which database; `None` if there is no statement or it is damaged.
pub(crate) fn testimony(folder: &Path) -> Option<(Identity, Position)> {
    let bytes = std::fs::read(path(folder)).ok()?;
    let (about, rest) = bytes.split_first_chunk::<8>()?;
    let position = Position(u64::from_be_bytes(*rest.first_chunk()?));
    (bytes == statement(*about, position)).then_some((*about, position))
}

fn path(folder: &Path) -> PathBuf {
    folder.join("longhaul.last")
}

fn statement(about: Identity, position: Position) -> [u8; LENGTH] {
    let stated = [about, position.0.to_be_bytes()].concat();
    let check = sha256(&[b"longhaul/last/".as_slice(), &stated].concat()).0;
    std::array::from_fn(|n| if n < 16 { stated[n] } else { check[n - 16] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_told_and_a_damaged_statement_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(testimony(folder.path()), None);
        let witness = Witness::open(folder.path(), [7; 8]).unwrap();
        witness.saw(Position(300));
        witness.saw(Position(301));
        assert_eq!(testimony(folder.path()), Some(([7; 8], Position(301))));
        let mut bytes = std::fs::read(path(folder.path())).unwrap();
        bytes[14] ^= 1;
        std::fs::write(path(folder.path()), bytes).unwrap();
        assert_eq!(testimony(folder.path()), None);
    }
}
