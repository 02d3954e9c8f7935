//! Databases that a restore or a recovery set aside. They lie beside the one that counts, are never changed,
//! and may be restored for as long as their blob files are kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_events::Digest;
use rusqlite::{Connection, OpenFlags};

use super::blobs::entries;
use super::{database_path, is_there};
use crate::error::StoreError;

pub(super) const PREFIX: &str = "longhaul.db.";
/// How the names of ours go on; other files that people put there are theirs.
const OURS: [&str; 2] = ["before-", "damaged-"];

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The files that make up the database at `path`. Its shared index is none of them: it is made again.
pub(super) fn parts(path: &Path) -> [PathBuf; 3] {
    ["-wal", "-journal", ""].map(|suffix| with_suffix(path, suffix))
}

/// What was made from the database that counts and is wrong for any other.
pub(super) fn derived(folder: &Path) -> [PathBuf; 4] {
    let views = folder.join("views.db");
    let index = with_suffix(&database_path(folder), "-shm");
    [index, with_suffix(&views, "-wal"), with_suffix(&views, "-shm"), views]
}

/// Where to set a database aside so that nothing is in the way.
pub(super) fn free_name(folder: &Path, name: &str) -> Result<PathBuf, StoreError> {
    for n in 1u64.. {
        let name = if n == 1 { format!("{PREFIX}{name}") } else { format!("{PREFIX}{name}-{n}") };
        let path = folder.join(name);
        let mut is_taken = is_there(&with_suffix(&path, "-shm"))?;
        for part in parts(&path) {
            is_taken |= is_there(&part)?;
        }
        if !is_taken {
            return Ok(path);
        }
    }
    unreachable!("the numbers do not end")
}

/// The databases that were set aside in `folder`, oldest name first, also where only a part is left.
pub(super) fn databases(folder: &Path) -> Result<BTreeSet<PathBuf>, StoreError> {
    let named = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        let base = ["-wal", "-shm", "-journal"].iter().find_map(|suffix| name.strip_suffix(suffix));
        let rest = name.strip_prefix(PREFIX)?;
        OURS.iter().any(|ours| rest.starts_with(ours)).then(|| folder.join(base.unwrap_or(&name)))
    };
    Ok(entries(folder)?.into_iter().filter_map(named).collect())
}

/// The blobs that databases which were set aside keep in files. If one of them cannot be read, nobody knows.
pub(super) fn blobs_in_files(folder: &Path) -> Result<BTreeSet<Digest>, StoreError> {
    let mut needed = BTreeSet::new();
    for path in databases(folder)? {
        let hashes = read_hashes(&path);
        needed.extend(hashes.map_err(|why| StoreError::SetAsideUnreadable { path, why })?);
    }
    Ok(needed)
}

fn read_hashes(path: &Path) -> Result<Vec<Digest>, String> {
    // SQLite deletes the write-ahead log of an empty main file.
    if fs::metadata(path).map_err(|error| error.to_string())?.len() == 0 {
        return Err("it is empty".to_owned());
    }
    let has_log = fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0);
    let read = || {
        // Without a log nothing has to be made beside it to read it.
        let uri = if has_log { uri(path, "mode=ro") } else { uri(path, "immutable=1") };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let database = Connection::open_with_flags(uri, flags)?;
        let mut statement =
            database.prepare("SELECT sha256 FROM blob WHERE data IS NULL AND dropped IS NULL")?;
        let hashes = statement.query_map([], |row| Ok(Digest(row.get(0)?)))?;
        hashes.collect::<rusqlite::Result<Vec<Digest>>>()
    };
    let hashes = read().map_err(|error| error.to_string());
    if has_log {
        let _ = fs::remove_file(with_suffix(path, "-shm")); // made by the reading
    }
    hashes
}

/// A path as SQLite's options want it, whatever bytes it has.
fn uri(path: &Path, option: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(byte);
    let encoded = path.as_os_str().as_encoded_bytes().iter().map(|byte| match byte {
        byte if plain(byte) => char::from(*byte).to_string(),
        byte => format!("%{byte:02x}"),
    });
    format!("file:{}?{option}", encoded.collect::<String>())
}
