//! Blobs: small ones in the database, large ones as files that are on disk before the append that names them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::canonical::sha256;
use longhaul_events::Digest;
use rusqlite::{Connection, OptionalExtension};

use crate::blob::{INLINE_LIMIT, NewBlob};
use crate::error::{BlobProblem, StoreError};

/// The folder of large blobs.
#[derive(Debug)]
pub(crate) struct BlobFiles {
    folder: PathBuf,
}

/// What the database says of a blob.
pub(super) struct BlobRow {
    pub(super) data: Option<Vec<u8>>,
    pub(super) dropped: bool,
    pub(super) redacted: Option<Digest>,
}

impl BlobRow {
    pub(super) fn load(connection: &Connection, hash: Digest) -> Result<Option<Self>, StoreError> {
        let mut statement = connection
            .prepare_cached("SELECT data, dropped IS NOT NULL, redacted FROM blob WHERE sha256 = ?1")?;
        let row = statement.query_row([hash.0], |row| {
            let redacted = row.get::<_, Option<[u8; 32]>>(2)?.map(Digest);
            Ok(Self { data: row.get(0)?, dropped: row.get(1)?, redacted })
        });
        Ok(row.optional()?)
    }
}

impl BlobFiles {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// `blobs/ab/abcd…`, so that no folder grows huge.
    pub(crate) fn path(&self, hash: Digest) -> PathBuf {
        let name = hash.to_string();
        self.folder.join(&name[..2]).join(name)
    }

    /// Puts the large ones among `blobs` on disk: written, synced, renamed, the folder synced.
    pub(crate) fn write_large(&self, connection: &Connection, blobs: &[NewBlob]) -> Result<(), StoreError> {
        for blob in blobs.iter().filter(|blob| blob.bytes.len() > INLINE_LIMIT) {
            if !needs_file(connection, blob.reference.sha256)? {
                continue;
            }
            let path = self.path(blob.reference.sha256);
            let intact = fs::read(&path).is_ok_and(|bytes| sha256(&bytes) == blob.reference.sha256);
            if intact {
                // Whoever renamed it may not have synced the folder yet.
                sync_folder(path.parent().unwrap_or(&self.folder))?;
            } else {
                self.write(&path, &blob.bytes)?;
            }
        }
        Ok(())
    }

    /// Writes again what `gc` removed since [`Self::write_large`]. Asked inside the write transaction, where
    /// `gc` cannot be.
    pub(crate) fn put_back(&self, connection: &Connection, blobs: &[NewBlob]) -> Result<(), StoreError> {
        let large = blobs.iter().filter(|blob| blob.bytes.len() > INLINE_LIMIT);
        for blob in large {
            let path = self.path(blob.reference.sha256);
            if needs_file(connection, blob.reference.sha256)? && !super::is_there(&path)? {
                self.write(&path, &blob.bytes)?;
            }
        }
        Ok(())
    }

    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = path.parent().expect("a blob lies in a folder");
        let is_new = !folder.exists();
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(StoreError::file("make", folder))?;
        if is_new {
            sync_folder(&self.folder)?;
            sync_folder(self.folder.parent().unwrap_or(&self.folder))?;
        }
        let error = |doing| StoreError::file(doing, path);
        let mut file =
            tempfile::Builder::new().prefix(".new-").tempfile_in(folder).map_err(error("write"))?;
        file.write_all(bytes).map_err(error("write"))?;
        file.as_file().sync_all().map_err(error("sync"))?;
        file.persist(path).map_err(|failed| error("rename")(failed.error))?;
        sync_folder(folder)
    }

    /// The files that no row needs: left by a crash, or of blobs that lie in the database.
    pub(crate) fn strays(&self, connection: &Connection) -> Result<Vec<PathBuf>, StoreError> {
        let mut needed = BTreeSet::new();
        let mut statement =
            connection.prepare("SELECT sha256 FROM blob WHERE data IS NULL AND dropped IS NULL")?;
        for hash in statement.query_map([], |row| row.get::<_, [u8; 32]>(0))? {
            needed.insert(self.path(Digest(hash?)));
        }
        let mut strays = Vec::new();
        for folder in entries(&self.folder)? {
            strays.extend(entries(&folder)?.into_iter().filter(|file| !needed.contains(file)));
        }
        Ok(strays)
    }

    /// The bytes of a blob, checked against its name.
    pub(crate) fn read(&self, connection: &Connection, hash: Digest) -> Result<Arc<[u8]>, StoreError> {
        let problem = |problem| StoreError::Blob { hash, problem };
        let row = BlobRow::load(connection, hash)?.ok_or(problem(BlobProblem::Missing))?;
        if row.dropped {
            return Err(problem(BlobProblem::Dropped));
        }
        let bytes = match row.data {
            Some(bytes) => bytes,
            None => fs::read(self.path(hash)).map_err(|error| match error.kind() {
                ErrorKind::NotFound => problem(BlobProblem::Missing),
                other => problem(BlobProblem::Unreadable(other)),
            })?,
        };
        if sha256(&bytes) != row.redacted.unwrap_or(hash) {
            return Err(problem(BlobProblem::Damaged));
        }
        Ok(bytes.into())
    }
}

/// Whether the bytes of a large blob belong in a file. Not if they lie in the database, as after a restore, and
/// not if a value was taken out of them: what was redacted stays redacted, even after it was collected.
fn needs_file(connection: &Connection, hash: Digest) -> Result<bool, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT data IS NULL AND redacted IS NULL FROM blob WHERE sha256 = ?1")?;
    let known = statement.query_row([hash.0], |row| row.get(0)).optional()?;
    Ok(known.unwrap_or(true))
}

pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|opened| opened.sync_all()).map_err(StoreError::file("sync", folder))
}

/// What is in a folder; nothing if it is not there or no folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    match fs::read_dir(folder) {
        Ok(found) => Ok(found.filter_map(|entry| Some(entry.ok()?.path())).collect()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(StoreError::file("read", folder)(error)),
    }
}
