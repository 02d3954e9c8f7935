//! The tables, and how they change while older processes live.
//!
//! A migration only adds. It names the oldest release that may still read and write beside it, and every
//! write transaction checks that it is still allowed, so an old process stops writing in time and keeps on
//! reading.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_core::canonical::sha256;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use super::connection::APPLICATION_ID;
use crate::error::StoreError;

struct Migration {
    version: u32,
    /// A release may read while it knows at least this schema.
    min_reader: u32,
    /// A release may write while it knows at least this schema.
    min_writer: u32,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, min_reader: 1, min_writer: 1, sql: include_str!("schema/1.sql") },
    #[cfg(feature = "schema-next")]
    Migration {
        version: 2,
        min_reader: 1,
        min_writer: 1,
        sql: "ALTER TABLE decision ADD COLUMN written_by TEXT;",
    },
    #[cfg(feature = "schema-breaking")]
    Migration {
        version: 3,
        min_reader: 1,
        min_writer: 3,
        sql: "ALTER TABLE decision ADD COLUMN must_be_written TEXT;",
    },
];

/// The newest schema that this build knows.
pub const SCHEMA_VERSION: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// What the database says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    version: u32,
    min_reader: u32,
    min_writer: u32,
}

impl Stamp {
    fn check(self) -> [u8; 16] {
        let text = format!("longhaul/schema/{}/{}/{}", self.version, self.min_reader, self.min_writer);
        std::array::from_fn(|n| sha256(text.as_bytes()).0[n])
    }
}

/// How far a database is from this build's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaState {
    /// Nothing is in it yet.
    Empty,
    Older,
    /// As new as this build's, or newer.
    Current,
}

pub(super) fn state(connection: &Connection) -> Result<SchemaState, StoreError> {
    Ok(match read_stamp(connection)? {
        None => SchemaState::Empty,
        Some(stamp) if stamp.version < SCHEMA_VERSION => SchemaState::Older,
        Some(_) => SchemaState::Current,
    })
}

/// Brings a database up to this build's schema.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let current = read_stamp(&transaction)?.map_or(0, |stamp| stamp.version);
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > current) {
        transaction.execute_batch(migration.sql)?;
        write_stamp(&transaction, migration)?;
    }
    if current == 0 {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    Ok(transaction.commit()?)
}

fn write_stamp(connection: &Connection, migration: &Migration) -> Result<(), StoreError> {
    let Migration { version, min_reader, min_writer, sql: _ } = *migration;
    let stamp = Stamp { version, min_reader, min_writer };
    connection.execute(
        "INSERT INTO schema (id, version, min_reader, min_writer, proof) VALUES (1, ?1, ?2, ?3, ?4)
         ON CONFLICT (id) DO UPDATE SET version = ?1, min_reader = ?2, min_writer = ?3, proof = ?4",
        (version, min_reader, min_writer, stamp.check()),
    )?;
    Ok(())
}

/// Says whether this build may read the database.
pub(super) fn may_read(connection: &Connection) -> Result<(), StoreError> {
    let stamp = read_stamp(connection)?.ok_or_else(|| StoreError::damaged("it has no schema"))?;
    if stamp.min_reader > SCHEMA_VERSION {
        return Err(StoreError::TooNew { needed: stamp.min_reader, known: SCHEMA_VERSION });
    }
    Ok(())
}

/// Says whether this build may still write. Asked inside every write transaction.
pub(super) fn may_write(connection: &Connection) -> Result<(), StoreError> {
    let stamp = read_stamp(connection)?.ok_or_else(|| StoreError::damaged("it has no schema"))?;
    if stamp.min_writer > SCHEMA_VERSION {
        return Err(StoreError::ReadOnlyForThisRelease { needed: stamp.min_writer, known: SCHEMA_VERSION });
    }
    Ok(())
}

/// `None` for a database that is new.
fn read_stamp(connection: &Connection) -> Result<Option<Stamp>, StoreError> {
    const SQL: &str = "SELECT version, min_reader, min_writer, proof FROM schema WHERE id = 1";
    let mut statement = match connection.prepare_cached(SQL) {
        Ok(statement) => statement,
        Err(_) if is_empty(connection)? => return Ok(None),
        // Another process may have made the tables since we looked.
        Err(_) => connection.prepare_cached(SQL)?,
    };
    let row = statement.query_row([], |row| {
        let stamp = Stamp { version: row.get(0)?, min_reader: row.get(1)?, min_writer: row.get(2)? };
        Ok((stamp, row.get::<_, [u8; 16]>(3)?))
    });
    match row.optional()? {
        Some((stamp, proof)) if stamp.check() == proof => Ok(Some(stamp)),
        _ => Err(StoreError::damaged("its schema stamp does not add up")),
    }
}

fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0)
}

/// Says whether the tables are the ones that our migrations make, no more and no less. Of a newer release we
/// know only that it adds to tables.
pub(super) fn check_shape(connection: &Connection) -> Result<(), StoreError> {
    let stamp = read_stamp(connection)?.ok_or_else(|| StoreError::damaged("it has no schema"))?;
    let model = Connection::open_in_memory()?;
    for migration in MIGRATIONS.iter().filter(|migration| migration.version <= stamp.version) {
        model.execute_batch(migration.sql)?;
    }
    let (ours, found) = (objects(&model)?, objects(connection)?);
    let is_newer = stamp.version > SCHEMA_VERSION;
    for (name, object) in &ours {
        match found.get(name) {
            None => return Err(StoreError::damaged(format!("`{name}` is missing"))),
            Some(other) if other.kind != object.kind => return Err(not_ours(name)),
            Some(other) if is_newer && !other.columns.is_superset(&object.columns) => {
                return Err(not_ours(name));
            }
            Some(other) if !is_newer && other != object => return Err(not_ours(name)),
            Some(_) => {}
        }
    }
    let foreign = |name: &&String, object: &Object| {
        !ours.contains_key(*name) && (!is_newer || ["view", "trigger"].contains(&&*object.kind))
    };
    match found.iter().find(|(name, object)| foreign(name, object)) {
        Some((name, object)) => {
            Err(StoreError::damaged(format!("it has a {} `{name}` that Longhaul did not make", object.kind)))
        }
        None => Ok(()),
    }
}

fn not_ours(name: &str) -> StoreError {
    StoreError::damaged(format!("`{name}` is not as Longhaul makes it"))
}

/// A table, an index, or something that we never make.
#[derive(PartialEq, Eq)]
struct Object {
    kind: String,
    /// The statement that made it, without comments and line breaks.
    sql: String,
    columns: BTreeSet<String>,
}

fn objects(connection: &Connection) -> Result<BTreeMap<String, Object>, StoreError> {
    // The statistics of `ANALYZE` change no answer.
    let mut statement = connection.prepare(
        "SELECT name, type, coalesce(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*'",
    )?;
    let named = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?)))?;
    let mut objects = BTreeMap::new();
    for object in named {
        let (name, kind, sql): (String, String, String) = object?;
        let columns = connection
            .prepare("SELECT name FROM pragma_table_xinfo(?1)")?
            .query_map([&name], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let uncommented = sql.lines().filter_map(|line| line.split("--").next());
        let words: Vec<&str> = uncommented.flat_map(str::split_whitespace).collect();
        objects.insert(name, Object { kind, sql: words.join(" "), columns });
    }
    Ok(objects)
}

/// How often values were taken out of this database. A state that was folded before the last time may still
/// hold one.
pub(super) fn redactions(connection: &Connection) -> Result<u64, StoreError> {
    Ok(connection
        .prepare_cached("SELECT redactions FROM schema WHERE id = 1")?
        .query_row([], |row| row.get(0))?)
}

pub(super) fn count_redaction(connection: &Connection) -> Result<(), StoreError> {
    connection.execute("UPDATE schema SET redactions = redactions + 1 WHERE id = 1", [])?;
    Ok(())
}

/// What the witness calls this database.
pub(super) fn identity(connection: &Connection) -> Result<[u8; 8], StoreError> {
    Ok(connection.query_row("SELECT identity FROM schema WHERE id = 1", [], |row| row.get(0))?)
}

/// Makes the copy of a database another one, of which no witness has told yet.
pub(super) fn renew_identity(connection: &Connection) -> Result<(), StoreError> {
    connection.execute("UPDATE schema SET identity = randomblob(8) WHERE id = 1", [])?;
    Ok(())
}
