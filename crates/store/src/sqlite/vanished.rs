//! Telling a data directory whose database is gone from one that never had one.
//!
//! SQLite takes both for a fresh start: it deletes the write-ahead log beside an empty main file as soon as it
//! opens it. So we look first.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use longhaul_events::Position;

use super::aside::{self, with_suffix};
use super::blobs::entries;
use super::database_path;
use crate::error::StoreError;
use crate::witness;

/// Refuses to go on where a database was and is no more.
pub(super) fn check(folder: &Path) -> Result<(), StoreError> {
    if !is_empty(folder)? {
        return Ok(());
    }
    let Some(what) = traces(folder)? else { return Ok(()) };
    // Asked last: another process may have made the database, and left the traces, while we looked.
    if is_empty(folder)? { Err(StoreError::damaged(what)) } else { Ok(()) }
}

/// Whether nothing tells that there was ever a database.
pub(super) fn is_fresh(folder: &Path) -> Result<bool, StoreError> {
    Ok(is_empty(folder)? && traces(folder)?.is_none())
}

/// That fewer commits are there than were seen.
pub(super) fn commits(folder: &Path, seen: Position, here: Position) -> StoreError {
    let missing = format!("{seen} decisions were committed, {here} are left");
    StoreError::damaged(missing + &set_aside(&aside::databases(folder).unwrap_or_default()))
}

fn is_empty(folder: &Path) -> Result<bool, StoreError> {
    let path = database_path(folder);
    Ok(size(&path)? == 0)
}

/// What is left of a database that is gone.
fn traces(folder: &Path) -> Result<Option<String>, StoreError> {
    let asides = aside::databases(folder)?;
    let seen = witness::testimony(folder).map_or(Position(0), |(_, seen)| seen);
    let what = if seen > Position(0) {
        format!("{seen} decisions were committed, 0 are left")
    } else if size(&with_suffix(&database_path(folder), "-wal"))? > 0 {
        "its main file is missing or empty, only its write-ahead log is there".to_owned()
    } else if has_blobs(folder)? {
        "it is missing or empty, but blobs are there".to_owned()
    } else if asides.is_empty() {
        return Ok(None);
    } else {
        "it is missing or empty".to_owned()
    };
    Ok(Some(what + &set_aside(&asides)))
}

fn has_blobs(folder: &Path) -> Result<bool, StoreError> {
    for shelf in entries(&folder.join("blobs"))? {
        if !entries(&shelf)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Names the databases that were set aside: one of them may hold what is missed.
fn set_aside<'a>(asides: impl IntoIterator<Item = &'a PathBuf>) -> String {
    let named = asides.into_iter().map(|path| format!("`{}`", path.display()));
    match named.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => String::new(),
        names => format!(", but `longhaul restore` can put back what was set aside: {names}"),
    }
}

fn size(path: &Path) -> Result<u64, StoreError> {
    match fs::metadata(path) {
        Ok(file) => Ok(file.len()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(error) => Err(StoreError::file("look at", path)(error)),
    }
}
