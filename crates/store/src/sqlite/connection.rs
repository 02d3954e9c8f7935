//! Opening SQLite the way we need it.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;

/// How long we wait for other processes before we say that the database is busy.
pub(crate) const BUSY_LIMIT_MS: u64 = 20_000;

/// `LHL1`: tells our databases from others.
pub(crate) const APPLICATION_ID: i32 = 0x4c48_4c31;

#[derive(Clone, Copy)]
pub(crate) enum Mode {
    ReadWrite,
    ReadOnly,
}

/// Opens and sets up a connection to a database that exists.
pub(crate) fn open(path: &Path, mode: Mode) -> Result<Connection, StoreError> {
    let flags = match mode {
        Mode::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        // A reader of a WAL database needs to write the shared index; the statements only read.
        Mode::ReadOnly => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let mut connection = Connection::open_with_flags(plain(path)?, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(|error| not_writable_at(path, error.into()))?;
    be_patient(&mut connection)?;
    connection.set_prepared_statement_cache_capacity(32);
    // The last one to leave would otherwise checkpoint and delete the log: two syncs for every CLI call.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // We make none, so one that is there is not ours.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA cell_size_check = ON;
         PRAGMA secure_delete = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -4096;
         PRAGMA wal_autocheckpoint = 1000;",
    )?;
    if matches!(mode, Mode::ReadOnly) {
        connection.execute_batch("PRAGMA query_only = ON;")?;
    }
    Ok(connection)
}

/// A path that SQLite does not take for anything else: one that begins with `file:` would be an address.
pub(super) fn plain(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(StoreError::file("find", path))
}

pub(super) fn not_writable_at(path: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::NotWritable { .. } => StoreError::NotWritable { path: path.to_owned() },
        other => other,
    }
}

/// Waits for other processes in our way instead of SQLite's.
pub(crate) fn be_patient(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(wait_a_little))
}

thread_local! {
    /// When the wait that is under way began.
    static WAITING_SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// When this thread last had to wait for others.
    static HAD_TO_WAIT: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// SQLite's own busy handler sleeps up to 100 ms at a time; with several writers that means stalls of half a
/// second. Short sleeps with jitter let everybody have a turn, and the longer one has waited, the more often
/// it looks, so that nobody is left behind.
fn wait_a_little(attempt: i32) -> bool {
    let since = WAITING_SINCE.get().filter(|_| attempt > 0).unwrap_or_else(Instant::now);
    WAITING_SINCE.set(Some(since));
    HAD_TO_WAIT.set(Some(Instant::now()));
    let waited = since.elapsed();
    let longest_micros = match waited.as_millis() {
        0..2 => 400,
        2..5 => 200,
        5..200 => 60,
        _ => 2000, // whoever holds it is not doing an append: no hurry
    };
    std::thread::sleep(Duration::from_micros(20 + jitter(attempt) % longest_micros));
    waited < Duration::from_millis(BUSY_LIMIT_MS)
}

/// Asked before a write transaction: while others are about, one that has just had its turn lets them have
/// theirs, because whoever has just let go of the lock would otherwise always be the first to take it again.
pub(super) fn let_others_go_first() {
    const ABOUT: Duration = Duration::from_millis(20);
    if HAD_TO_WAIT.get().is_some_and(|at| at.elapsed() < ABOUT) {
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// Differs between processes and attempts; that is all it has to do.
fn jitter(attempt: i32) -> u64 {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let mixed = u64::from(nanos) ^ (u64::from(std::process::id()) << 20) ^ u64::from(attempt.unsigned_abs());
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}
