//! One transaction for a group of appends. Each is all or nothing; a conflict of one does not touch another.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};

use longhaul_core::chain::{Header, link};
use longhaul_events::{Digest, Position, Seq, StreamId, Timestamp};
use rusqlite::{Connection, params};

use super::blobs::BlobFiles;
use super::rows::{HeadRow, Place, has_decisions, insert_decision};
use super::{connection, schema};
use crate::append::{Append, Appended, StreamAppend};
use crate::blob::{INLINE_LIMIT, NewBlob};
use crate::error::{AppendError, StoreError};
use crate::log::{Decision, Head};

type Answer = Result<Appended, AppendError>;

/// Commits a group, answering in its order.
pub(super) fn commit(
    connection: &Connection,
    files: &BlobFiles,
    redactions: &AtomicU64,
    group: &[Append],
) -> Vec<Answer> {
    match try_commit(connection, files, redactions, group) {
        Ok(answers) => answers,
        // One of them may be too large for the disk or the database; the others shall not suffer for it.
        Err(StoreError::DiskFull | StoreError::Sql(_)) if group.len() > 1 => group
            .iter()
            .map(|append| {
                let alone = try_commit(connection, files, redactions, std::slice::from_ref(append));
                alone.map_err(AppendError::from).and_then(|mut answers| answers.remove(0))
            })
            .collect(),
        Err(error) => share(error, group.len()),
    }
}

/// The same failure for all: the first gets it whole, the others its words.
fn share(error: StoreError, count: usize) -> Vec<Answer> {
    let again = || match &error {
        StoreError::Busy { waited_ms } => StoreError::Busy { waited_ms: *waited_ms },
        StoreError::DiskFull => StoreError::DiskFull,
        StoreError::ReadOnlyForThisRelease { needed, known } => {
            StoreError::ReadOnlyForThisRelease { needed: *needed, known: *known }
        }
        StoreError::OutcomeUnknown(_) => StoreError::OutcomeUnknown(None),
        StoreError::Replaced { path } => StoreError::Replaced { path: path.clone() },
        other => StoreError::damaged(other.to_string()),
    };
    let mut answers: Vec<Answer> = (1..count).map(|_| Err(again().into())).collect();
    answers.insert(0, Err(error.into()));
    answers
}

fn try_commit(
    connection: &Connection,
    files: &BlobFiles,
    redactions: &AtomicU64,
    group: &[Append],
) -> Result<Vec<Answer>, StoreError> {
    connection::let_others_go_first();
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?; // what a panic left behind
    }
    // Prepared, because parsing these two words again and again shows in the time of an append.
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let written = write_group(connection, files, redactions, group).and_then(|answers| {
        let committed = connection.prepare_cached("COMMIT")?.execute([]);
        committed.map_err(StoreError::from).map_err(outcome_unknown)?;
        Ok(answers)
    });
    if written.is_err() && !connection.is_autocommit() {
        // The first error is the one to tell; a transaction that cannot even be rolled back ends with us.
        let _ = connection.execute_batch("ROLLBACK");
    }
    written
}

fn write_group(
    connection: &Connection,
    files: &BlobFiles,
    redactions: &AtomicU64,
    group: &[Append],
) -> Result<Vec<Answer>, StoreError> {
    schema::may_write(connection)?;
    let redacted = schema::redactions(connection)?;
    redactions.store(redacted, Ordering::Relaxed);
    let mut last = super::read::last_position(connection)?;
    let mut answers = Vec::with_capacity(group.len());
    for append in group {
        answers.push(match heads_before(connection, append)? {
            // What was taken out of the log must not come back with a state from before: load it again.
            Ok(_) if append.state_epoch != redacted && append.has_states() => Err(reload(append)),
            Ok(heads) => {
                files.put_back(connection, &append.blobs)?;
                Ok(store(connection, append, heads, &mut last)?)
            }
            Err(refusal) => Err(refusal),
        });
    }
    Ok(answers)
}

/// A fault while the commit itself was written leaves open what the disk has.
fn outcome_unknown(error: StoreError) -> StoreError {
    match error {
        StoreError::DiskFault(source) => StoreError::OutcomeUnknown(Some(source)),
        other => other,
    }
}

fn reload(append: &Append) -> AppendError {
    let part = &append.streams[0];
    AppendError::Conflict { stream: part.stream.to_string(), expected: part.expected, actual: part.expected }
}

/// The verified ends of the streams of one append.
type Heads = BTreeMap<StreamId, Option<HeadRow>>;

/// Looks at every stream before the first row is written, so that a refused append leaves no trace.
fn heads_before(connection: &Connection, append: &Append) -> Result<Result<Heads, AppendError>, StoreError> {
    let mut heads = Heads::new();
    for (index, part) in append.streams.iter().enumerate() {
        if let Entry::Vacant(unknown) = heads.entry(part.stream) {
            match head_before(connection, &part.stream.to_string()) {
                Ok(head) => unknown.insert(head),
                Err(refusal @ StoreError::Quarantined { .. }) => return Ok(Err(refusal.into())),
                Err(error) => return Err(error),
            };
        }
        let stored = heads[&part.stream].as_ref().map_or(0, |row| row.head.seq.0);
        let earlier = append.streams[..index].iter().filter(|other| other.stream == part.stream);
        let actual = Seq(stored + earlier.map(|other| other.count).sum::<u64>());
        if actual != part.expected {
            let (stream, expected) = (part.stream.to_string(), part.expected);
            return Ok(Err(AppendError::Conflict { stream, expected, actual }));
        }
    }
    Ok(Ok(heads))
}

/// The verified end of a stream that may be written to.
fn head_before(connection: &Connection, stream: &str) -> Result<Option<HeadRow>, StoreError> {
    let quarantined = |reason: String| StoreError::Quarantined { stream: stream.to_owned(), reason };
    match HeadRow::load(connection, stream) {
        Ok(Some(HeadRow { quarantined: Some(reason), .. })) => Err(quarantined(reason)),
        Ok(Some(row)) => Ok(Some(row)),
        // A head that is gone while decisions are there was not lost by us.
        Ok(None) if has_decisions(connection, stream)? => Err(quarantined("its head is missing".to_owned())),
        Ok(None) => Ok(None),
        Err(StoreError::Damaged { what }) => Err(quarantined(what)),
        Err(error) => Err(error),
    }
}

fn store(
    connection: &Connection,
    append: &Append,
    mut heads: Heads,
    last: &mut Position,
) -> Result<Appended, StoreError> {
    for blob in &append.blobs {
        store_blob(connection, blob, append.at)?;
    }
    for part in &append.streams {
        *last = last.plus(1);
        let before = heads.remove(&part.stream).flatten();
        let moment = Moment { at: append.at, position: *last };
        let after = store_decision(connection, part, before.as_ref(), moment)?;
        heads.insert(part.stream, Some(after));
    }
    Ok(Appended { position: *last })
}

/// When a decision is stored: by the clock, and among all others.
#[derive(Clone, Copy)]
struct Moment {
    at: Timestamp,
    position: Position,
}

fn store_decision(
    connection: &Connection,
    part: &StreamAppend,
    before: Option<&HeadRow>,
    moment: Moment,
) -> Result<HeadRow, StoreError> {
    let Moment { at, position } = moment;
    let stream = part.stream.to_string();
    let place = before.map_or(Place::FIRST, Place::after);
    // Time never runs backwards within a stream, whatever the clock does.
    let at = before.map_or(at, |row| row.head.at.max(at));
    let previous = before.map_or(Digest::ZERO, |row| row.head.hash);
    let header = Header { stream: &stream, seq: part.expected.plus(1), count: part.count, at };
    let hash = link(previous, &header, part.digest);
    let decision = Decision {
        position,
        seq: header.seq,
        count: part.count,
        at,
        body: part.body.clone(),
        previous,
        hash,
        digest: part.digest,
        redacted: false,
        stream: stream.clone(),
    };
    insert_decision(connection, &decision, None, place)?;
    let head = Head { seq: part.expected.plus(part.count), hash, at, state: part.state.clone() };
    let decisions = before.map_or(0, |row| row.decisions) + 1;
    let row = HeadRow { head, position, decisions, quarantined: None };
    if before.is_none() {
        row.save(connection, &stream)?;
    } else {
        row.update(connection, &stream)?;
    }
    Ok(row)
}

/// A blob that is there stays as it is. One that was dropped comes back, unless it held a value that was
/// redacted: those bytes are not stored again.
fn store_blob(connection: &Connection, blob: &NewBlob, at: Timestamp) -> Result<(), StoreError> {
    let data = (blob.bytes.len() <= INLINE_LIMIT).then_some(&*blob.bytes);
    connection
        .prepare_cached(
            "INSERT INTO blob (sha256, bytes, at, data) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (sha256) DO UPDATE SET data = excluded.data, dropped = NULL
             WHERE dropped IS NOT NULL AND redacted IS NULL",
        )?
        .execute(params![blob.reference.sha256.0, blob.reference.bytes, at.0, data])?;
    Ok(())
}
