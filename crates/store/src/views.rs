//! Views: what the log amounts to, ready to be listed. In a database of its own, which may be deleted at any
//! time: the next reader makes it anew.
//!
//! A view is brought up to date by whoever reads it, after the commits that it shows. Every row carries a
//! checksum, and the cursor one over all of them; on any doubt the whole is rebuilt from the log.

mod board;
mod rows;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use longhaul_core::canonical::sha256;
use longhaul_events::{Digest, Position, StreamKind};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::error::StoreError;
use crate::log::{DamagedRow, Decision, Log};
use crate::sqlite::connection::be_patient;
pub use board::Board;
pub use rows::{
    Concerns, CostRow, Costs, DrivenRow, GateRow, QuestionRow, Reached, Row, ServiceRow, SessionRow,
    SessionStatus, TaskRow, TriggerRow, Waiting, WorkspaceRow,
};

/// Raised whenever the same log gives other rows.
const VERSION: u32 = 12;
const BATCH: usize = 500;

/// How often the file is tried before the rows are made without it.
const ATTEMPTS: usize = 3;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS row (stream TEXT PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL, proof BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS cursor (id INTEGER PRIMARY KEY, body BLOB NOT NULL, proof BLOB NOT NULL) STRICT;
";

type Proof = [u8; 16];

/// The views of one data directory.
#[derive(Debug)]
pub struct Views {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
    /// Why the file could not be used the last time; the rows were made from the log then.
    trouble: Mutex<Option<String>>,
}

/// How far the views have followed the log, and what they hold there.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Cursor {
    version: u32,
    position: Position,
    /// Of the decision at `position`: another log has another one there.
    hash: Digest,
    rows: u64,
    /// The proofs of all rows, combined so that order does not matter.
    sum: Proof,
}

impl Cursor {
    const START: Self =
        Self { version: VERSION, position: Position(0), hash: Digest::ZERO, rows: 0, sum: [0; 16] };

    fn swap(&mut self, before: Option<Proof>, after: Proof) {
        self.rows += u64::from(before.is_none());
        for proof in before.into_iter().chain([after]) {
            self.sum.iter_mut().zip(proof).for_each(|(sum, byte)| *sum ^= byte);
        }
    }
}

/// Which rows somebody asks for.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    All,
    Kind(StreamKind),
}

impl Wanted {
    fn is(self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Kind(kind) => row.kind() == kind,
        }
    }
}

/// Rows with the names of their streams, as of a position of the log.
struct Followed {
    rows: Vec<(String, Row)>,
    position: Position,
}

/// Why a reading of the views is worth nothing.
enum Doubt {
    /// The views are damaged or stale beyond catching up.
    Views,
    /// Their file cannot be used. A full disk or a busy file says nothing against what is in it.
    Unusable(rusqlite::Error),
    Log(StoreError),
}

/// The log answers with errors of the store; those of SQLite itself are all about the views' own file.
impl From<rusqlite::Error> for Doubt {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::SystemIoFailure
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Unusable(error),
            _ => Self::Views,
        }
    }
}

impl From<StoreError> for Doubt {
    fn from(error: StoreError) -> Self {
        Self::Log(error)
    }
}

impl Views {
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join("views.db"), connection: Mutex::new(None), trouble: Mutex::new(None) }
    }

    /// All sessions, in the order of their ids.
    pub fn sessions(&self, log: &dyn Log) -> Result<Vec<SessionRow>, StoreError> {
        let rows = self.rows(log, StreamKind::Session)?.into_iter();
        Ok(rows.filter_map(Row::into_session).collect())
    }

    /// All tasks, in the order of their ids.
    pub fn tasks(&self, log: &dyn Log) -> Result<Vec<TaskRow>, StoreError> {
        let rows = self.rows(log, StreamKind::Task)?.into_iter();
        Ok(rows.filter_map(Row::into_task).collect())
    }

    /// All workspaces that are registered, in the order of their ids.
    pub fn workspaces(&self, log: &dyn Log) -> Result<Vec<WorkspaceRow>, StoreError> {
        let rows = self.rows(log, StreamKind::Workspace)?.into_iter();
        Ok(rows.filter_map(Row::into_workspace).collect())
    }

    /// All triggers that anything ever came to, in the order of their ids.
    pub fn triggers(&self, log: &dyn Log) -> Result<Vec<TriggerRow>, StoreError> {
        let rows = self.rows(log, StreamKind::Trigger)?.into_iter();
        Ok(rows.filter_map(Row::into_trigger).collect())
    }

    /// All daemons that ever served here.
    pub fn services(&self, log: &dyn Log) -> Result<Vec<ServiceRow>, StoreError> {
        let rows = self.rows(log, StreamKind::Daemon)?.into_iter();
        Ok(rows.filter_map(Row::into_service).collect())
    }

    /// Makes the views anew. Others may be reading them, or making them anew too: the rows are replaced and the
    /// file stays, unless it cannot be used.
    pub fn rebuild(&self, log: &dyn Log) -> Result<(), StoreError> {
        match self.refill(log) {
            Err(Doubt::Log(error)) => return Err(error),
            Err(Doubt::Views | Doubt::Unusable(_)) => self.discard(),
            Ok(()) => {}
        }
        self.rows(log, StreamKind::Session).map(|_| ())
    }

    /// Why the file could not be used when rows were last asked for.
    pub fn trouble(&self) -> Option<String> {
        lock(&self.trouble).clone()
    }

    /// The log alone tells what the rows are. If the file that saves the work of folding it cannot be used, the
    /// work is done again.
    fn rows(&self, log: &dyn Log, kind: StreamKind) -> Result<Vec<Row>, StoreError> {
        Ok(self.followed(log, Wanted::Kind(kind))?.rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Everything, with how far it follows the log.
    fn all(&self, log: &dyn Log) -> Result<Followed, StoreError> {
        self.followed(log, Wanted::All)
    }

    fn followed(&self, log: &dyn Log, wanted: Wanted) -> Result<Followed, StoreError> {
        let mut trouble = None;
        for _ in 0..ATTEMPTS {
            match self.try_rows(log, wanted) {
                Ok(rows) => {
                    *lock(&self.trouble) = None;
                    return Ok(rows);
                }
                Err(Doubt::Log(error)) => return Err(error),
                // Somebody else may have thrown the file away while we had it open.
                Err(Doubt::Unusable(error)) => trouble = Some(error.to_string()),
                Err(Doubt::Views) => {
                    tracing::info!(path = %self.path.display(), "the views are in doubt and are made anew");
                    trouble = Some("it is damaged and could not be made anew".to_owned());
                    self.discard();
                }
            }
        }
        tracing::warn!(path = %self.path.display(), ?trouble, "the views cannot be used");
        *lock(&self.trouble) = trouble;
        from_log_alone(log, wanted)
    }

    /// In one transaction, so that nobody reads the views half made.
    fn refill(&self, log: &dyn Log) -> Result<(), Doubt> {
        let mut held = lock(&self.connection);
        let mut connection = match held.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch("DELETE FROM row; DELETE FROM cursor;")?;
        let last = log.last_position()?;
        while load_cursor(&transaction)?.position < last {
            follow_batch(&transaction, log)?;
        }
        transaction.commit()?;
        *held = Some(connection);
        Ok(())
    }

    /// Throws the views away; whoever reads next makes them anew.
    pub fn discard(&self) {
        *lock(&self.connection) = None;
        for extra in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(crate::sqlite::aside::with_suffix(&self.path, extra));
        }
    }

    fn try_rows(&self, log: &dyn Log, wanted: Wanted) -> Result<Followed, Doubt> {
        let mut held = lock(&self.connection);
        let mut connection = match held.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let last = catch_up(&mut connection, log)?;
        let rows = read_rows(&mut connection, wanted, last)?;
        *held = Some(connection);
        Ok(rows)
    }

    fn open(&self) -> Result<Connection, Doubt> {
        let mut connection = Connection::open(&self.path)?;
        be_patient(&mut connection)?;
        let _ = fs::set_permissions(&self.path, fs::Permissions::from_mode(0o600));
        // Not synced: what a power cut takes away is made again, and so is what a kill leaves half written. No
        // write-ahead log: its index is mapped memory, and a file that is thrown away and made anew while others
        // have it open would shrink under them, which kills a process.
        connection.execute_batch(
            "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cell_size_check = ON;",
        )?;
        connection.execute_batch(SCHEMA)?;
        Ok(connection)
    }
}

/// The rows, made in memory.
fn from_log_alone(log: &dyn Log, wanted: Wanted) -> Result<Followed, StoreError> {
    let made = || {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        let last = catch_up(&mut connection, log)?;
        read_rows(&mut connection, wanted, last)
    };
    made().map_err(|doubt| match doubt {
        Doubt::Log(error) => error,
        Doubt::Unusable(error) => error.into(),
        Doubt::Views => StoreError::damaged("the views cannot be made from the log"),
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows the log to its end, and says where that was.
fn catch_up(connection: &mut Connection, log: &dyn Log) -> Result<Position, Doubt> {
    let last = log.last_position()?;
    let cursor = load_cursor(connection)?;
    check_same_log(&cursor, log)?;
    let mut position = cursor.position;
    while position < last {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        position = load_cursor(&transaction)?.position;
        if position < last {
            position = follow_batch(&transaction, log)?;
        }
        transaction.commit()?;
    }
    Ok(last)
}

/// Follows the log for a while, and says how far it came. There is something to follow.
fn follow_batch(transaction: &Transaction<'_>, log: &dyn Log) -> Result<Position, Doubt> {
    let mut cursor = load_cursor(transaction)?;
    let decisions = log.since(cursor.position, BATCH)?;
    if decisions.is_empty() {
        return Err(Doubt::Views);
    }
    for decision in decisions {
        follow(transaction, &mut cursor, decision)?;
    }
    save_cursor(transaction, &cursor)?;
    Ok(cursor.position)
}

/// After a restore the same positions hold other decisions.
fn check_same_log(cursor: &Cursor, log: &dyn Log) -> Result<(), Doubt> {
    if cursor.position == Position(0) {
        return Ok(());
    }
    let before = Position(cursor.position.0 - 1);
    match log.since(before, 1)?.first() {
        Some(Ok(decision)) if decision.position == cursor.position && decision.hash == cursor.hash => Ok(()),
        // A row that was damaged later was still followed in its time.
        Some(Err(damaged)) if damaged.position == cursor.position => Ok(()),
        _ => Err(Doubt::Views),
    }
}

fn follow(
    transaction: &Transaction<'_>,
    cursor: &mut Cursor,
    decision: Result<Decision, DamagedRow>,
) -> Result<(), Doubt> {
    let (position, hash, stream) = match &decision {
        Ok(decision) => (decision.position, decision.hash, decision.stream.clone()),
        Err(damaged) => (damaged.position, Digest::ZERO, damaged.stream.clone()),
    };
    let before = load_row(transaction, &stream)?;
    let after = Row::after(before.as_ref().map(|(row, _)| row.clone()), decision);
    if let Some(after) = after {
        let body = serde_json::to_vec(&after).map_err(|_| Doubt::Views)?;
        let proof = proof(&stream, &body);
        transaction
            .prepare_cached("INSERT OR REPLACE INTO row (stream, kind, body, proof) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![stream, after.kind().name(), body, proof])?;
        cursor.swap(before.map(|(_, proof)| proof), proof);
    }
    cursor.position = position;
    cursor.hash = hash;
    Ok(())
}

fn load_row(connection: &Connection, stream: &str) -> Result<Option<(Row, Proof)>, Doubt> {
    let found: Option<(Vec<u8>, Proof)> = connection
        .prepare_cached("SELECT body, proof FROM row WHERE stream = ?1")?
        .query_row([stream], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    found.map(|(body, proof)| Ok((checked_row(stream, &body, proof)?, proof))).transpose()
}

fn checked_row(stream: &str, body: &[u8], stored: Proof) -> Result<Row, Doubt> {
    if proof(stream, body) != stored {
        return Err(Doubt::Views);
    }
    serde_json::from_slice(body).map_err(|_| Doubt::Views)
}

/// The rows that are wanted; all rows are looked at, because only all of them together fit the cursor.
fn read_rows(connection: &mut Connection, wanted: Wanted, last: Position) -> Result<Followed, Doubt> {
    // One snapshot: others may be following the log at the same time.
    let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let cursor = load_cursor(&snapshot)?;
    // Somebody else may have thrown the file away after we caught up.
    if cursor.position < last {
        return Err(Doubt::Views);
    }
    let mut statement = snapshot.prepare_cached("SELECT stream, body, proof FROM row ORDER BY stream")?;
    let mut found = statement.query([])?;
    let mut rows = Vec::new();
    let mut seen = Cursor::START;
    while let Some(row) = found.next()? {
        let (stream, body, proof): (String, Vec<u8>, Proof) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let row = checked_row(&stream, &body, proof)?;
        seen.swap(None, proof);
        if wanted.is(&row) {
            rows.push((stream, row));
        }
    }
    let position = cursor.position;
    if (seen.rows, seen.sum) == (cursor.rows, cursor.sum) {
        Ok(Followed { rows, position })
    } else {
        Err(Doubt::Views)
    }
}

fn proof(stream: &str, body: &[u8]) -> Proof {
    let mut bytes = stream.as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(body);
    let full = sha256(&bytes).0;
    std::array::from_fn(|n| full[n])
}

fn load_cursor(connection: &Connection) -> Result<Cursor, Doubt> {
    let found: Option<(Vec<u8>, Proof)> = connection
        .prepare_cached("SELECT body, proof FROM cursor WHERE id = 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((body, stored)) = found else {
        let rows: i64 = connection.query_row("SELECT count(*) FROM row", [], |row| row.get(0))?;
        return if rows == 0 { Ok(Cursor::START) } else { Err(Doubt::Views) };
    };
    let cursor: Cursor = serde_json::from_slice(&body).map_err(|_| Doubt::Views)?;
    if proof("cursor", &body) != stored || cursor.version != VERSION {
        return Err(Doubt::Views);
    }
    Ok(cursor)
}

fn save_cursor(connection: &Connection, cursor: &Cursor) -> Result<(), Doubt> {
    let body = serde_json::to_vec(cursor).map_err(|_| Doubt::Views)?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO cursor (id, body, proof) VALUES (1, ?1, ?2)")?
        .execute(params![body, proof("cursor", &body)])?;
    Ok(())
}
