//! Putting a backup in place of the store: all of it is made ready and looked at before anything is moved.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::aside::with_suffix;
use super::blobs::BlobFiles;
use super::connection::Mode;
use super::verify::Verdict;
use super::{Access, Options, SqliteLog, connection, database_path, replace, schema};
use crate::error::StoreError;

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub streams: u64,
    /// Streams that are damaged in the backup, and so here.
    pub damaged: Vec<String>,
    /// Where the database that was there before has gone.
    pub set_aside: Option<PathBuf>,
}

/// Puts a backup in place of the store in `folder`, which nobody may be using. What was there is set aside.
pub fn restore(folder: &Path, backup: &Path, stamp: &str) -> Result<Restored, StoreError> {
    check_file(backup)?;
    super::make_private_folder(folder)?;
    let alone = replace::alone(folder, "restoring")?;
    let workshop = replace::workshop(folder, &alone)?;
    let copy = database_path(workshop.path());
    copy_database(backup, &copy)?;
    check_copy(&copy).map_err(|error| unfit(backup, error))?;
    let looked = look(workshop.path(), folder).map_err(|error| unfit(backup, error))?;
    settle(&copy)?;
    let set_aside = replace::replace(workshop, &format!("before-restore-{stamp}"), &alone)?;
    drop(alone);
    // Tells the witness of the database that is there now.
    SqliteLog::open(&Options { folder: folder.to_owned(), poke: None, access: Access::Write })?;
    Ok(Restored { set_aside, ..looked })
}

/// A pipe would never end, and a folder is none: refused before anything waits for them.
fn check_file(backup: &Path) -> Result<(), StoreError> {
    let error = || StoreError::file("read", backup);
    for part in [backup.to_owned(), with_suffix(backup, "-wal")] {
        match fs::metadata(&part) {
            Ok(found) if found.is_file() => {}
            Ok(found) if found.is_dir() => return Err(error()(io::ErrorKind::IsADirectory.into())),
            Ok(_) => return Err(error()(io::Error::other("it is not a regular file"))),
            Err(absent) if absent.kind() == io::ErrorKind::NotFound && part != backup => {}
            Err(source) => return Err(error()(source)),
        }
    }
    let mut start = Vec::new();
    let opened = fs::File::open(backup).map_err(error())?;
    opened.take(16).read_to_end(&mut start).map_err(error())?;
    if start == b"SQLite format 3\0" { Ok(()) } else { Err(StoreError::NotOurs { path: backup.to_owned() }) }
}

/// A database that was set aside, unlike a backup, may have a write-ahead log beside it.
fn copy_database(backup: &Path, copy: &Path) -> Result<(), StoreError> {
    for suffix in ["", "-wal"] {
        let (from, to) = (with_suffix(backup, suffix), with_suffix(copy, suffix));
        if super::is_there(&from)? {
            fs::copy(&from, &to).map_err(StoreError::file("copy", from))?;
            // The backup may be one that cannot be written.
            super::make_private_file(&to)?;
        }
    }
    Ok(())
}

/// Is it ours, may we read it, is it whole, and is nothing in it that we did not make?
fn check_copy(path: &Path) -> Result<(), StoreError> {
    let copy = connection::open(path, Mode::ReadOnly)?;
    let application: i32 = copy.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if application != connection::APPLICATION_ID {
        return Err(StoreError::NotOurs { path: path.to_owned() });
    }
    schema::may_read(&copy)?;
    schema::check_shape(&copy)?;
    let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" { Ok(()) } else { Err(StoreError::damaged(verdict)) }
}

/// Says of a backup what was found in its copy.
fn unfit(backup: &Path, error: StoreError) -> StoreError {
    let backup = backup.to_owned();
    match error {
        StoreError::NotOurs { .. } => StoreError::NotOurs { path: backup },
        StoreError::Damaged { what } => StoreError::UnfitBackup { backup, why: what },
        StoreError::TooNew { needed, known } => {
            let why = format!("it needs a release that knows schema {needed}, this one knows {known}");
            StoreError::UnfitBackup { backup, why }
        }
        other => other,
    }
}

/// Brings the copy up to date and verifies every stream in it, from its first event to its head.
fn look(workshop: &Path, folder: &Path) -> Result<Restored, StoreError> {
    let mut log =
        SqliteLog::open(&Options { folder: workshop.to_owned(), poke: None, access: Access::Write })?;
    // A database that was set aside has its large blobs there.
    log.blobs = BlobFiles::new(folder.join("blobs"));
    log.writing(|copy| schema::renew_identity(copy))?;
    let streams = log.stream_names()?;
    let mut damaged = Vec::new();
    for stream in &streams {
        match log.verify_stream(stream)?.verdict {
            Verdict::Broken(_) => damaged.push(stream.clone()),
            Verdict::Intact | Verdict::Unreadable(_) | Verdict::Quarantined(_) => {}
        }
    }
    Ok(Restored { streams: streams.len() as u64, damaged, set_aside: None })
}

/// Leaves one file that holds everything.
pub(super) fn settle(path: &Path) -> Result<(), StoreError> {
    let database = Connection::open(connection::plain(path)?)?;
    let mode: String = database.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    let busy: i64 = database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    drop(database);
    if (&*mode, busy) != ("wal", 0) {
        return Err(StoreError::Bug(format!("`{}` could not be settled", path.display())));
    }
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(path, suffix));
    }
    super::make_private_file(path)
}
