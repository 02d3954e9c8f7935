//! What the disk allows: one raw insert per transaction, the yardstick of the benches. Never in a release.

use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;

/// A table, a row, a sync.
#[derive(Debug)]
pub struct RawInserts {
    connection: Connection,
    row: Vec<u8>,
}

impl RawInserts {
    /// Rows of `bytes` bytes in a database of their own.
    pub fn new(folder: &Path, bytes: usize) -> Result<Self, StoreError> {
        let connection = Connection::open(folder.join("raw.db"))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE raw (id INTEGER PRIMARY KEY, row BLOB NOT NULL);",
        )?;
        Ok(Self { connection, row: vec![7; bytes] })
    }

    /// One durable insert.
    pub fn insert(&self) -> Result<(), StoreError> {
        self.connection.prepare_cached("INSERT INTO raw (row) VALUES (?1)")?.execute([&self.row])?;
        Ok(())
    }
}
