//! A backup is one file: the database as it was at one moment, with the large blobs inside.
//!
//! It is a Longhaul database itself, so restoring is putting it in place.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_events::Digest;
use rusqlite::{Connection, OpenFlags, params};

use super::blobs::sync_folder;
use super::connection::Mode;
use super::{Access, Options, SqliteLog, connection, database_path, schema};
use crate::error::{BlobProblem, StoreError};
use crate::presence::Presence;

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backup {
    pub bytes: u64,
    /// Blobs that are damaged or missing here, and so in the backup.
    pub blobs_left_out: u64,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub streams: u64,
    /// Where the database that was there before has gone.
    pub set_aside: Option<PathBuf>,
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
        // `VACUUM INTO` reads one snapshot; writers go on meanwhile. It wants an empty or absent file.
        let source = connection::open(&database_path(&self.folder), Mode::ReadWrite)?;
        source.execute("VACUUM INTO ?1", [target.to_string_lossy()])?;
        let copy = Connection::open_with_flags(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        copy.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;")?;
        let hashes: Vec<[u8; 32]> = copy
            .prepare("SELECT sha256 FROM blob WHERE data IS NULL AND dropped IS NULL")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut left_out = 0;
        for hash in hashes {
            let bytes = self.reading(|connection| self.blobs.read(connection, Digest(hash)));
            match bytes {
                Ok(bytes) => {
                    copy.execute("UPDATE blob SET data = ?2 WHERE sha256 = ?1", params![hash, &*bytes])?;
                }
                // Collected meanwhile: the backup knows no better than the store before.
                Err(StoreError::Blob { problem: BlobProblem::Dropped, .. }) => {}
                Err(StoreError::Blob { problem: BlobProblem::Missing | BlobProblem::Damaged, .. }) => {
                    left_out += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(left_out)
    }
}

/// Puts a backup in place of the store in `folder`, which nobody may be using. What was there is set aside.
pub fn restore(folder: &Path, backup: &Path, stamp: &str) -> Result<Restored, StoreError> {
    check_backup(backup)?;
    super::make_private_folder(folder)?;
    let alone = Presence::alone(folder, "restoring")?;
    let unfinished = folder.join(".restoring.db");
    for extra in ["-journal", "-shm"] {
        // A restore that was killed may have left them, and SQLite would roll them into the new copy.
        let _ = fs::remove_file(with_suffix(&unfinished, extra));
    }
    for extra in ["", "-wal"] {
        let (from, to) = (with_suffix(backup, extra), with_suffix(&unfinished, extra));
        let _ = fs::remove_file(&to);
        // A database that was set aside, unlike a backup, may have a write-ahead log beside it.
        if from.exists() {
            fs::copy(&from, &to).map_err(StoreError::file("copy", from))?;
        }
    }
    prepare(&unfinished)?;
    let set_aside = set_aside(folder, &format!("before-restore-{stamp}"))?;
    put_in_place(folder, &unfinished)?;
    drop(alone);
    let log = SqliteLog::open(&Options { folder: folder.to_owned(), poke: None, access: Access::Write })?;
    Ok(Restored { streams: log.stream_names()?.len() as u64, set_aside })
}

/// Looks without changing: is it a whole database, is it ours, may we read it?
fn check_backup(backup: &Path) -> Result<(), StoreError> {
    fs::metadata(backup).map_err(StoreError::file("read", backup))?;
    let not_ours = || StoreError::NotOurs { path: backup.to_owned() };
    let unreadable = |error: rusqlite::Error| connection::not_writable_at(backup, error.into());
    let copy = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(unreadable)?;
    let application: i32 =
        copy.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(|_| not_ours())?;
    if application != connection::APPLICATION_ID {
        return Err(not_ours());
    }
    schema::may_read(&copy)?;
    let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(StoreError::damaged(verdict)) }
}

/// Makes the copy a working database that is on disk, before anything is moved.
fn prepare(path: &Path) -> Result<(), StoreError> {
    let copy = Connection::open(path)?;
    copy.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    schema::renew_identity(&copy)?;
    copy.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    drop(copy);
    for extra in ["-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(path, extra));
    }
    super::make_private_file(path)?;
    fs::File::open(path).and_then(|file| file.sync_all()).map_err(StoreError::file("sync", path))
}

/// Makes a finished database the one that counts.
pub(super) fn put_in_place(folder: &Path, finished: &Path) -> Result<(), StoreError> {
    fs::rename(finished, database_path(folder)).map_err(StoreError::file("rename", finished))?;
    sync_folder(folder)
}

/// Renames the database, its write-ahead log and its views, so that they stay a whole that can be opened.
pub(super) fn set_aside(folder: &Path, name: &str) -> Result<Option<PathBuf>, StoreError> {
    let path = database_path(folder);
    for extra in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(&folder.join("views.db"), extra));
    }
    if !path.exists() {
        return Ok(None);
    }
    let aside = folder.join(format!("longhaul.db.{name}"));
    // A crash in between leaves the witness, so that it does not pass for a fresh start.
    for extra in ["-shm", "-wal", ""] {
        let from = with_suffix(&path, extra);
        if from.exists() {
            fs::rename(&from, with_suffix(&aside, extra)).map_err(StoreError::file("rename", &from))?;
        }
    }
    Ok(Some(aside))
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
