//! The log in SQLite: WAL, synced at every commit, shared between processes.

pub(crate) mod aside;
pub(crate) mod backup;
mod blobs;
mod commit;
pub(crate) mod connection;
pub(crate) mod export;
mod group;
pub(crate) mod import;
pub(crate) mod inventory;
mod opened;
mod pages;
mod quarantine;
mod read;
mod rebuild;
pub(crate) mod recover;
pub(crate) mod redact;
mod replace;
pub(crate) mod restore;
mod rows;
mod schema;
mod vanished;
pub(crate) mod verify;

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_events::{Digest, Position, Seq, StreamId};
use rusqlite::Connection;

use crate::append::{Append, Appended};
use crate::blob::INLINE_LIMIT;
use crate::error::{AppendError, StoreError};
use crate::log::{DamagedRow, Decision, Head, Log};
use crate::presence::Presence;
use crate::watch::Poker;
use crate::witness::{self, Witness};
use blobs::BlobFiles;
use connection::Mode;
use group::Group;
use opened::OpenedFile;
use schema::SchemaState;

pub use schema::SCHEMA_VERSION;

/// Where a store lies and how it is used.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory.
    pub folder: PathBuf,
    /// Where a daemon would listen for news; see [`crate::watch`].
    pub poke: Option<PathBuf>,
    pub access: Access,
}

/// What we mean to do with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Make it if it is not there, bring its schema up to date.
    Write,
    /// Bring its schema up to date; an absent store is an error.
    WriteExisting,
    /// Change nothing; an absent store is an error.
    Read,
}

/// An open store.
#[derive(Debug)]
pub struct SqliteLog {
    folder: PathBuf,
    writer: Mutex<Connection>,
    file: OpenedFile,
    /// The redactions that the states which callers know were folded after.
    redactions: AtomicU64,
    readers: Mutex<Vec<Connection>>,
    group: Group,
    blobs: BlobFiles,
    witness: Option<Witness>,
    poker: Option<Poker>,
    _presence: Presence,
}

/// The database within a data directory.
pub(crate) fn database_path(folder: &Path) -> PathBuf {
    folder.join("longhaul.db")
}

impl SqliteLog {
    pub fn open(options: &Options) -> Result<Self, StoreError> {
        let path = database_path(&options.folder);
        let makes = options.access == Access::Write;
        if makes {
            make_private_folder(&options.folder)?;
        } else if !is_there(&options.folder)? {
            return Err(StoreError::Absent { path });
        }
        let presence = replace::join(&options.folder)?;
        vanished::check(&options.folder)?;
        if !makes && !is_there(&path)? {
            return Err(StoreError::Absent { path });
        }
        let writer = open_checked(&options.folder, options.access)
            .map_err(|error| connection::not_writable_at(&path, error))?;
        check_witness(&options.folder, &writer)?;
        let witness = match options.access {
            Access::Write | Access::WriteExisting => Some(called_in(&options.folder, &writer)?),
            Access::Read => None,
        };
        Ok(Self {
            blobs: BlobFiles::new(options.folder.join("blobs")),
            folder: options.folder.clone(),
            redactions: AtomicU64::new(schema::redactions(&writer)?),
            writer: Mutex::new(writer),
            file: OpenedFile::at(&path)?,
            readers: Mutex::new(Vec::new()),
            group: Group::default(),
            witness,
            poker: options.poke.clone().map(Poker::new),
            _presence: presence,
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `read` on a connection of its own, so that readers never wait for the writer.
    fn reading<T>(
        &self,
        read: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => connection::open(&database_path(&self.folder), Mode::ReadOnly)?,
        };
        let answer = read(&mut connection);
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        answer
    }

    /// Runs a read that is short by nature. A process that does one thing and ends needs no second connection for it:
    /// while nobody writes, the writer's will do.
    fn glancing<T>(
        &self,
        read: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.readers.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
            && let Ok(mut writer) = self.writer.try_lock()
        {
            return read(&mut writer);
        }
        self.reading(read)
    }

    /// Runs `write` alone in this process. Other processes are kept out by its transaction.
    fn writing<T>(&self, write: impl FnOnce(&mut Connection) -> T) -> T {
        write(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What went into a file that is no longer the store was not stored.
    fn not_in_place(&self, answer: Result<Appended, AppendError>) -> Result<Appended, AppendError> {
        answer.and_then(|appended| Ok(self.file.is_in_place().map(|()| appended)?))
    }

    fn poke(&self) {
        if let Some(poker) = &self.poker {
            poker.poke();
        }
    }
}

/// Whoever opens the database next, with nobody else there, reads the whole write-ahead log first.
const LEAVE_AT_MOST_BYTES: u64 = 128 * 1024;

impl Drop for SqliteLog {
    /// Leaves a short log behind, if nobody else is using it at this moment.
    fn drop(&mut self) {
        let log = aside::with_suffix(&database_path(&self.folder), "-wal");
        if fs::metadata(log).map_or(0, |file| file.len()) <= LEAVE_AT_MOST_BYTES {
            return;
        }
        self.writing(|connection| {
            let _ = connection.busy_handler(None::<fn(i32) -> bool>);
            let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        });
    }
}

/// Opens the database, and for a writer makes it or brings it up to date.
fn open_checked(folder: &Path, access: Access) -> Result<Connection, StoreError> {
    let path = database_path(folder);
    let mode = match access {
        Access::Write | Access::WriteExisting => Mode::ReadWrite,
        Access::Read => Mode::ReadOnly,
    };
    let mut connection = connection::open(&path, mode)?;
    check_ours(&path, &connection)?;
    match (schema::state(&connection)?, access) {
        (SchemaState::Current, _) | (SchemaState::Older, Access::Read) => {}
        (SchemaState::Empty, Access::Read | Access::WriteExisting) => {
            return Err(StoreError::Absent { path });
        }
        (SchemaState::Empty, Access::Write) | (SchemaState::Older, Access::Write | Access::WriteExisting) => {
            // One at a time; the others find it done.
            let _alone = Presence::setting_up(folder)?;
            if schema::state(&connection)? == SchemaState::Empty {
                check_witness(folder, &connection)?;
                make_database(&path, &connection)?;
            }
            schema::migrate(&mut connection)?;
            // The tables go to the main file at once, so that a damaged log cannot take them away.
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        }
    }
    schema::may_read(&connection)?;
    Ok(connection)
}

/// A database that somebody else made is left alone; an empty one is anybody's.
fn check_ours(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if tables == 0 || application == connection::APPLICATION_ID {
        Ok(())
    } else {
        Err(StoreError::NotOurs { path: path.to_owned() })
    }
}

/// Says that acknowledged decisions are gone, if they are.
fn check_witness(folder: &Path, connection: &Connection) -> Result<(), StoreError> {
    let Some((about, seen)) = witness::testimony(folder) else { return Ok(()) };
    let here = match schema::state(connection)? {
        SchemaState::Empty => Position(0),
        // What was said of another database, which a restore or a salvage replaced, says nothing of this one.
        SchemaState::Current | SchemaState::Older if schema::identity(connection)? != about => return Ok(()),
        SchemaState::Current | SchemaState::Older => read::last_position(connection)?,
    };
    if here < seen { Err(vanished::commits(folder, seen, here)) } else { Ok(()) }
}

/// The witness, who is told at once of a database that it has not heard of.
fn called_in(folder: &Path, writer: &Connection) -> Result<Witness, StoreError> {
    let identity = schema::identity(writer)?;
    let witness = Witness::open(folder, identity)?;
    if witness::testimony(folder).is_none_or(|(about, _)| about != identity) {
        witness.saw(read::last_position(writer)?);
    }
    Ok(witness)
}

/// Several processes may come first at once: the change to WAL is refused to all but one of them, without
/// asking the busy handler, so it is tried again.
fn make_database(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    make_private_file(path)?;
    let mut tries = 0;
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(StoreError::Bug(format!("the journal mode is `{mode}`, not `wal`"))),
            Err(error) if tries > 400 => return Err(error.into()),
            Err(error) => match StoreError::from(error) {
                StoreError::Busy { .. } => std::thread::sleep(std::time::Duration::from_millis(5)),
                other => return Err(other),
            },
        }
        tries += 1;
    }
}

/// "May not look" is not "is not there".
fn is_there(path: &Path) -> Result<bool, StoreError> {
    path.try_exists().map_err(StoreError::file("look at", path))
}

fn make_private_file(path: &Path) -> Result<(), StoreError> {
    let private = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    private.map_err(StoreError::file("set permissions of", path))
}

fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(StoreError::file("make", folder))
}

impl Log for SqliteLog {
    fn append(&self, append: Append) -> Result<Appended, AppendError> {
        if append.blobs.iter().any(|blob| blob.bytes().len() > INLINE_LIMIT) {
            self.reading(|connection| self.blobs.write_large(connection, &append.blobs))?;
        }
        self.group.submit(append, |group| {
            let answers =
                self.writing(|writer| commit::commit(writer, &self.blobs, &self.redactions, &group));
            let Some(Ok(last)) = answers.iter().rfind(|answer| answer.is_ok()) else { return answers };
            if self.file.is_in_place().is_err() {
                return answers.into_iter().map(|answer| self.not_in_place(answer)).collect();
            }
            self.witness.as_ref().inspect(|witness| witness.saw(last.position));
            self.poke();
            answers
        })
    }

    fn head(&self, stream: StreamId) -> Result<Option<Head>, StoreError> {
        self.glancing(|connection| read::head(connection, &stream.to_string()))
    }

    fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Decision>, StoreError> {
        self.glancing(|connection| read::stream(connection, &stream.to_string(), after, limit))
    }

    fn since(&self, after: Position, limit: usize) -> Result<Vec<Result<Decision, DamagedRow>>, StoreError> {
        self.reading(|connection| read::since(connection, after, limit))
    }

    fn last_position(&self) -> Result<Position, StoreError> {
        self.glancing(|connection| read::last_position(connection))
    }

    fn state_epoch(&self) -> u64 {
        self.redactions.load(Ordering::Relaxed)
    }

    fn blob(&self, hash: Digest) -> Result<Arc<[u8]>, StoreError> {
        self.glancing(|connection| self.blobs.read(connection, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readers(log: &SqliteLog) -> usize {
        log.readers.lock().unwrap().len()
    }

    #[test]
    fn a_short_read_needs_a_connection_of_its_own_only_while_somebody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { folder: folder.path().to_owned(), poke: None, access: Access::Write };
        let log = SqliteLog::open(&options).unwrap();
        assert_eq!(log.last_position().unwrap(), Position(0));
        assert_eq!(readers(&log), 0);
        let seen = log.writing(|_| log.last_position()).unwrap();
        assert_eq!((seen, readers(&log)), (Position(0), 1));
        log.last_position().unwrap();
        assert_eq!(readers(&log), 1, "the reader that is there is used again");
    }
}
