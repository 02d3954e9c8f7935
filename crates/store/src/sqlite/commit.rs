//! One transaction for a group of appends. Each is all or nothing; a conflict of one does not touch another.

use longhaul_core::canonical::sha256;
use longhaul_core::chain::{Header, link};
use longhaul_events::{Digest, Position, Seq, Timestamp};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::blobs::BlobFiles;
use super::rows::{HeadRow, has_decisions};
use super::schema;
use crate::append::{Append, Appended, StreamAppend};
use crate::blob::{INLINE_LIMIT, NewBlob};
use crate::error::{AppendError, StoreError};
use crate::log::Head;

type Answer = Result<Appended, AppendError>;

/// Commits a group, answering in its order.
pub(super) fn commit(connection: &mut Connection, files: &BlobFiles, group: &[Append]) -> Vec<Answer> {
    match try_commit(connection, files, group) {
        Ok(answers) => answers,
        Err(error) if group.len() == 1 => vec![Err(error.into())],
        // One of them may be too large for the disk or the database; the others shall not suffer for it.
        Err(_) => group
            .iter()
            .map(|append| {
                let alone = try_commit(connection, files, std::slice::from_ref(append));
                alone.map_err(AppendError::from).and_then(|mut answers| answers.remove(0))
            })
            .collect(),
    }
}

fn try_commit(
    connection: &mut Connection,
    files: &BlobFiles,
    group: &[Append],
) -> Result<Vec<Answer>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::may_write(&transaction)?;
    let mut last = super::read::last_position(&transaction)?;
    let mut answers = Vec::with_capacity(group.len());
    for append in group {
        answers.push(match check(&transaction, append)? {
            Ok(()) => {
                files.put_back(&append.blobs)?;
                Ok(store(&transaction, append, &mut last)?)
            }
            Err(refusal) => Err(refusal),
        });
    }
    if answers.iter().any(Result::is_ok) {
        transaction.commit()?;
    }
    Ok(answers)
}

/// Looks at every stream before the first row is written, so that a refused append leaves no trace.
fn check(transaction: &Transaction<'_>, append: &Append) -> Result<Result<(), AppendError>, StoreError> {
    for (index, part) in append.streams.iter().enumerate() {
        let name = part.stream.to_string();
        let before = match head_before(transaction, &name) {
            Ok(before) => before,
            Err(refusal @ StoreError::Quarantined { .. }) => return Ok(Err(refusal.into())),
            Err(error) => return Err(error),
        };
        let earlier = append.streams[..index].iter().filter(|other| other.stream == part.stream);
        let actual = Seq(before.map_or(0, |head| head.seq.0) + earlier.map(|other| other.count).sum::<u64>());
        if actual != part.expected {
            return Ok(Err(AppendError::Conflict { stream: name, expected: part.expected, actual }));
        }
    }
    Ok(Ok(()))
}

/// The verified end of a stream that may be written to.
fn head_before(transaction: &Transaction<'_>, stream: &str) -> Result<Option<Head>, StoreError> {
    let quarantined = |reason: String| StoreError::Quarantined { stream: stream.to_owned(), reason };
    match HeadRow::load(transaction, stream) {
        Ok(Some(HeadRow { quarantined: Some(reason), .. })) => Err(quarantined(reason)),
        Ok(Some(row)) => Ok(Some(row.head)),
        // A head that is gone while decisions are there was not lost by us.
        Ok(None) if has_decisions(transaction, stream)? => Err(quarantined("its head is missing".to_owned())),
        Ok(None) => Ok(None),
        Err(StoreError::Damaged { what }) => Err(quarantined(what)),
        Err(error) => Err(error),
    }
}

fn store(
    transaction: &Transaction<'_>,
    append: &Append,
    last: &mut Position,
) -> Result<Appended, StoreError> {
    for blob in &append.blobs {
        store_blob(transaction, blob, append.at)?;
    }
    for part in &append.streams {
        *last = last.plus(1);
        store_decision(transaction, part, append.at, *last)?;
    }
    Ok(Appended { position: *last })
}

fn store_decision(
    transaction: &Transaction<'_>,
    part: &StreamAppend,
    at: Timestamp,
    position: Position,
) -> Result<(), StoreError> {
    let stream = part.stream.to_string();
    let before = head_before(transaction, &stream)?;
    // Time never runs backwards within a stream, whatever the clock does.
    let at = before.as_ref().map_or(at, |head| head.at.max(at));
    let previous = before.map_or(Digest::ZERO, |head| head.hash);
    let header = Header { stream: &stream, seq: part.expected.plus(1), count: part.count, at };
    let digest = sha256(&part.body);
    let hash = link(previous, &header, digest);
    transaction
        .prepare_cached(
            "INSERT INTO decision (position, stream, seq, count, at, body, digest, previous, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            position.0,
            stream,
            header.seq.0,
            part.count,
            at.0,
            part.body,
            digest.0,
            previous.0,
            hash.0
        ])?;
    let head = Head { seq: part.expected.plus(part.count), hash, at, state: part.state.clone() };
    HeadRow { head, quarantined: None }.save(transaction, &stream)?;
    Ok(())
}

/// A blob that is there stays as it is; one that was dropped comes back.
fn store_blob(transaction: &Transaction<'_>, blob: &NewBlob, at: Timestamp) -> Result<(), StoreError> {
    let data = (blob.bytes.len() <= INLINE_LIMIT).then_some(&*blob.bytes);
    transaction
        .prepare_cached(
            "INSERT INTO blob (sha256, bytes, at, data) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (sha256) DO UPDATE SET data = excluded.data, dropped = NULL WHERE dropped IS NOT NULL",
        )?
        .execute(params![blob.reference.sha256.0, blob.reference.bytes, at.0, data])?;
    Ok(())
}
