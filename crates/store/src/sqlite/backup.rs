//! A backup is one file: the database as it was at one moment, with the large blobs inside.
//!
//! It is a Longhaul database itself, so restoring is putting it in place.

use std::fs;
use std::path::Path;

use longhaul_core::canonical::sha256;
use longhaul_events::Digest;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use super::blobs::{BlobRow, sync_folder};
use super::connection::Mode;
use super::{SqliteLog, connection, database_path};
use crate::error::StoreError;

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    pub bytes: u64,
    /// Blobs that are damaged or missing here, and so in the backup.
    pub blobs_left_out: u64,
}

impl SqliteLog {
    /// Writes a backup to a new file while others go on writing.
    pub fn backup(&self, target: &Path) -> Result<Backup, StoreError> {
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let error = || StoreError::file("write", target);
        fs::metadata(folder).map_err(StoreError::file("find", folder))?;
        let unfinished = tempfile::Builder::new().prefix(".backup-").tempfile_in(folder).map_err(error())?;
        let blobs_left_out = self.copy_into(unfinished.path())?;
        unfinished.as_file().sync_all().map_err(error())?;
        let bytes = unfinished.as_file().metadata().map_err(error())?.len();
        unfinished.persist_noclobber(target).map_err(|failed| error()(failed.error))?;
        sync_folder(folder)?;
        Ok(Backup { bytes, blobs_left_out })
    }

    fn copy_into(&self, target: &Path) -> Result<u64, StoreError> {
        let copy = self.snapshot(target)?;
        self.take_files_in(&copy)
    }

    /// All rows as they are at one moment; large blobs are still elsewhere.
    fn snapshot(&self, target: &Path) -> Result<Connection, StoreError> {
        // `VACUUM INTO` reads one snapshot; writers go on meanwhile. It wants an empty or absent file, and a
        // text for its name, which on disk may be any bytes.
        let source = connection::open(&database_path(&self.folder), Mode::ReadWrite)?;
        let target = connection::plain(target)?;
        source.execute("VACUUM INTO CAST(?1 AS TEXT)", [target.as_os_str().as_encoded_bytes()])?;
        let copy = Connection::open_with_flags(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        copy.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;")?;
        Ok(copy)
    }

    /// Takes the large blobs into a snapshot. What was redacted or collected since it was taken is so in the
    /// backup too: its bytes from before are gone. Returns how many blobs could not be had.
    fn take_files_in(&self, copy: &Connection) -> Result<u64, StoreError> {
        let hashes: Vec<[u8; 32]> = copy
            .prepare("SELECT sha256 FROM blob WHERE data IS NULL AND dropped IS NULL")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut left_out = 0;
        for hash in hashes {
            match self.reading(|connection| self.blob_now(connection, Digest(hash)))? {
                BlobNow::Whole { bytes, redacted } => {
                    let sql = "UPDATE blob SET data = ?2, redacted = ?3 WHERE sha256 = ?1";
                    copy.execute(sql, params![hash, bytes, redacted.map(|digest| digest.0)])?;
                }
                BlobNow::Dropped { at } => {
                    copy.execute("UPDATE blob SET dropped = ?2 WHERE sha256 = ?1", params![hash, at])?;
                }
                BlobNow::Lost => left_out += 1,
            }
        }
        Ok(left_out)
    }

    /// Its row and its file, of the same moment.
    fn blob_now(&self, connection: &Connection, hash: Digest) -> Result<BlobNow, StoreError> {
        let mut marks = Marks::load(connection, hash)?;
        loop {
            let bytes = match BlobRow::load(connection, hash)?.and_then(|row| row.data) {
                Some(bytes) => Some(bytes),
                None => fs::read(self.blobs.path(hash)).ok(),
            };
            let after = Marks::load(connection, hash)?;
            if after != marks {
                marks = after; // changed while we read the file
                continue;
            }
            let expected = marks.redacted.unwrap_or(hash);
            return Ok(match (marks.dropped, bytes) {
                (Some(at), _) => BlobNow::Dropped { at },
                (None, Some(bytes)) if sha256(&bytes) == expected => {
                    BlobNow::Whole { bytes, redacted: marks.redacted }
                }
                (None, _) => BlobNow::Lost,
            });
        }
    }
}

/// What can be had of a blob at this moment.
enum BlobNow {
    Whole { bytes: Vec<u8>, redacted: Option<Digest> },
    Dropped { at: i64 },
    Lost,
}

/// What was done to a blob since it was stored.
#[derive(Default, PartialEq, Eq)]
struct Marks {
    dropped: Option<i64>,
    redacted: Option<Digest>,
}

impl Marks {
    fn load(connection: &Connection, hash: Digest) -> Result<Self, StoreError> {
        let mut statement =
            connection.prepare_cached("SELECT dropped, redacted FROM blob WHERE sha256 = ?1")?;
        let marks = statement.query_row([hash.0], |row| {
            Ok(Self { dropped: row.get(0)?, redacted: row.get::<_, Option<[u8; 32]>>(1)?.map(Digest) })
        });
        Ok(marks.optional()?.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use longhaul_core::retention::{self, Inventory};
    use longhaul_core::scrub::Scrubber;
    use longhaul_events::{
        CloseOutcome, Content, NodeId, Nonce, Seq, SessionEvent, SessionId, StreamId, Timestamp,
    };

    use super::*;
    use crate::error::BlobProblem;
    use crate::sqlite::{Access, Options};
    use crate::{Append, Log, NewBlob, StreamAppend, Verdict, restore};

    const VALUE: &str = "open sesame, forty thieves";

    fn sqlite(folder: &Path) -> SqliteLog {
        SqliteLog::open(&Options { folder: folder.to_owned(), poke: None, access: Access::Write }).unwrap()
    }

    /// A closed session with one large blob.
    fn store_a_blob(log: &SqliteLog, text: &str) -> Digest {
        let blob = NewBlob::new(text.repeat(9000).into_bytes());
        let finished = SessionEvent::StepFinished {
            node: NodeId(Seq(2)),
            nonce: Nonce::from_bytes([1; 5]),
            payload: Content::Blob(blob.reference()),
            payload_hash: Digest::ZERO,
            answer: Content::Inline(serde_json::Value::Null),
            epoch: None,
        };
        let events = [finished, SessionEvent::Closed { outcome: CloseOutcome::Completed }];
        let part = StreamAppend::new(StreamId::from(SessionId::from_bytes([1; 8])), Seq(0), &events, None);
        let hash = blob.reference().sha256;
        let append = Append { at: Timestamp(1), state_epoch: 0, streams: vec![part], blobs: vec![blob] };
        log.append(append).unwrap();
        hash
    }

    /// Takes a backup, with something happening between its rows and its files, and restores it elsewhere.
    fn restored_with(folder: &Path, log: &SqliteLog, meanwhile: impl FnOnce()) -> SqliteLog {
        let copy = log.snapshot(&folder.join("copy")).unwrap();
        meanwhile();
        assert_eq!(log.take_files_in(&copy).unwrap(), 0);
        drop(copy);
        let elsewhere = folder.join("elsewhere");
        assert_eq!(restore(&elsewhere, &folder.join("copy"), "t").unwrap().damaged, [""; 0]);
        let restored = sqlite(&elsewhere);
        let stream = &restored.stream_names().unwrap()[0];
        assert_eq!(restored.verify_stream(stream).unwrap().verdict, Verdict::Intact);
        restored
    }

    #[test]
    fn a_blob_that_is_redacted_during_the_backup_is_redacted_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let log = sqlite(&folder.path().join("store"));
        let hash = store_a_blob(&log, VALUE);
        let restored = restored_with(folder.path(), &log, || {
            log.redact(&Scrubber::redacting(VALUE), crate::Names::Spare).unwrap();
        });
        assert!(restored.blob(hash).unwrap().starts_with(b"[redacted]"));
    }

    #[test]
    fn a_blob_that_is_collected_during_the_backup_is_collected_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let log = sqlite(&folder.path().join("store"));
        let hash = store_a_blob(&log, "a large one");
        let restored = restored_with(folder.path(), &log, || {
            let plan = retention::plan(&Inventory {
                as_of: log.last_position().unwrap(),
                now: Timestamp(i64::MAX / 2),
                blobs: log.blob_uses().unwrap(),
                ..Inventory::default()
            });
            assert_eq!(log.collect(&plan, Timestamp(5)).unwrap().blobs, 1);
        });
        let gone = restored.blob(hash).unwrap_err();
        assert!(matches!(gone, StoreError::Blob { problem: BlobProblem::Dropped, .. }), "{gone}");
    }
}
