//! Taking a value out of everything that is stored, so that no byte of it is left, while the chain holds.
//!
//! The body of a decision changes, its digest does not: the chain covers the digest. Heads lose their states,
//! because states hold values too; whoever next uses a stream folds it again.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use longhaul_core::canonical::sha256;
use longhaul_core::scrub::Scrubber;
use longhaul_core::workflow::Workflow;
use longhaul_events::{
    Content, DaemonEvent, Digest, SessionEvent, StreamEvent, StreamId, StreamKind, TaskEvent, TriggerEvent,
    WorkspaceEvent, decode_batch, encode_batch,
};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::blobs::BlobFiles;
use super::rows::HeadRow;
use super::verify::stream_names;
use super::{SqliteLog, replace, schema};
use crate::error::StoreError;

/// What becomes of names and of pinned workflows that hold the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// The redaction is refused.
    Spare,
    /// It is taken out of them too, and the sessions that need them can no longer be followed.
    TakeOut,
}

/// What a redaction changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Redacted {
    pub decisions: u64,
    pub blobs: u64,
}

impl SqliteLog {
    /// Replaces what `scrubber` finds, everywhere. The views have to be thrown away afterwards.
    pub fn redact(&self, scrubber: &Scrubber, names: Names) -> Result<Redacted, StoreError> {
        let redacted = self.writing(|connection| {
            let (redacted, rewritten) = redact(connection, &self.blobs, Removal { scrubber, names })?;
            self.file.is_in_place()?;
            // From here on it is committed. Each of the rest is tried, whatever becomes of the others.
            let files = rewrite(&self.blobs, &rewritten);
            // Pages keep traces of rows that were moved or removed long ago.
            let wiped = connection.execute_batch("VACUUM").map_err(StoreError::from);
            let emptied = wiped.and_then(|()| empty_write_ahead_log(connection));
            let cleared = replace::clear_away(&self.folder);
            files.and(emptied).and(cleared).map_err(|error| StoreError::TracesRemain(Box::new(error)))?;
            Ok::<_, StoreError>(redacted)
        })?;
        self.poke();
        Ok(redacted)
    }
}

/// What is to go, and how far.
#[derive(Clone, Copy)]
struct Removal<'a> {
    scrubber: &'a Scrubber,
    names: Names,
}

fn redact(
    connection: &mut Connection,
    files: &BlobFiles,
    removal: Removal<'_>,
) -> Result<(Redacted, Rewritten), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schema::may_write(&transaction)?;
    let decisions = redact_decisions(&transaction, removal)?;
    let (blobs, rewritten) = redact_blobs(&transaction, files, removal)?;
    forget_states(&transaction)?;
    schema::count_redaction(&transaction)?;
    remove_spoilt_strays(&transaction, files, removal.scrubber)?;
    transaction.commit()?;
    Ok((Redacted { decisions, blobs }, rewritten))
}

/// Files come last: after a crash in between they still hold the value, are found to be damaged, and a second
/// redaction makes them what their rows say. One that cannot be written does not keep the value in the others.
fn rewrite(files: &BlobFiles, rewritten: &Rewritten) -> Result<(), StoreError> {
    let write = |(hash, bytes): &(Digest, Vec<u8>)| files.write(&files.path(*hash), bytes);
    rewritten.iter().map(write).fold(Ok(()), Result::and)
}

fn redact_decisions(transaction: &Transaction<'_>, removal: Removal<'_>) -> Result<u64, StoreError> {
    let mut changed = 0;
    let mut rows = transaction
        .prepare("SELECT position, stream, body, digest, redacted FROM decision ORDER BY position")?;
    let mut update =
        transaction.prepare("UPDATE decision SET body = ?2, redacted = ?3 WHERE position = ?1")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let (position, stream, body): (i64, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let clean = if names_in(&stream, &body, removal.scrubber) {
            match removal.names {
                Names::Spare => return Err(StoreError::InNames { stream: format!("`{stream}`") }),
                Names::TakeOut => Some(removal.scrubber.bytes(&body).into_owned()),
            }
        } else {
            scrubbed_body(&stream, &body, removal.scrubber)
        };
        if let Some(clean) = clean {
            let (digest, redacted): ([u8; 32], Option<[u8; 32]>) = (row.get(3)?, row.get(4)?);
            update.execute(params![position, clean, proof_after(&body, digest, redacted, &clean)])?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// The digest that the cleaned bytes are to be checked against. Bytes that were damaged before stay damaged:
/// cleaning does not make them what was written.
fn proof_after(bytes: &[u8], digest: [u8; 32], redacted: Option<[u8; 32]>, clean: &[u8]) -> Option<[u8; 32]> {
    let whole = sha256(bytes).0 == redacted.unwrap_or(digest);
    if whole { Some(sha256(clean).0) } else { redacted }
}

/// The body of a decision without what the scrubber finds; `None` if there is nothing to take out.
pub(super) fn scrubbed_body(stream: &str, body: &[u8], scrubber: &Scrubber) -> Option<Vec<u8>> {
    if !scrubber.finds_any(body) {
        return None;
    }
    let clean = match stream.parse::<StreamId>().map(|stream| stream.kind()) {
        Ok(StreamKind::Session) => scrubbed_events::<SessionEvent>(body, scrubber),
        Ok(StreamKind::Task) => scrubbed_events::<TaskEvent>(body, scrubber),
        Ok(StreamKind::Workspace) => scrubbed_events::<WorkspaceEvent>(body, scrubber),
        Ok(StreamKind::Trigger) => scrubbed_events::<TriggerEvent>(body, scrubber),
        Ok(StreamKind::Daemon) => scrubbed_events::<DaemonEvent>(body, scrubber),
        Err(_) => None,
    };
    // What this release cannot read as events has no shape that it could keep.
    let clean = clean.unwrap_or_else(|| scrubber.bytes(body).into_owned());
    (clean != body).then_some(clean)
}

fn names_in(stream: &str, body: &[u8], scrubber: &Scrubber) -> bool {
    let Ok(stream) = stream.parse::<StreamId>() else { return false };
    if !scrubber.finds_any(body) {
        return false;
    }
    match stream.kind() {
        StreamKind::Session => {
            names_of::<SessionEvent>(body, scrubber)
                || decode_batch(body).is_ok_and(|events| events.iter().any(holds_a_workflow))
        }
        StreamKind::Task => names_of::<TaskEvent>(body, scrubber),
        StreamKind::Workspace | StreamKind::Trigger | StreamKind::Daemon => false,
    }
}

fn names_of<E: StreamEvent>(body: &[u8], scrubber: &Scrubber) -> bool {
    decode_batch::<E>(body)
        .is_ok_and(|events| events.iter().flat_map(E::names).any(|name| scrubber.finds_any(name.as_bytes())))
}

/// A workflow of which a word was changed is another workflow: a condition that never holds, a gate that is gone.
fn is_workflow(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Workflow>(bytes).is_ok()
}

fn holds_a_workflow(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::WorkflowPinned { workflow: Content::Inline(_), .. })
}

fn scrubbed_events<E: StreamEvent>(body: &[u8], scrubber: &Scrubber) -> Option<Vec<u8>> {
    let mut events = decode_batch::<E>(body).ok()?;
    events.iter_mut().for_each(|event| scrubber.event(event));
    Some(encode_batch(&events))
}

type Rewritten = Vec<(Digest, Vec<u8>)>;

fn redact_blobs(
    transaction: &Transaction<'_>,
    files: &BlobFiles,
    removal: Removal<'_>,
) -> Result<(u64, Rewritten), StoreError> {
    let Removal { scrubber, names } = removal;
    let mut changed = 0;
    let mut rewritten = Vec::new();
    let mut rows = transaction.prepare("SELECT sha256, data, redacted FROM blob WHERE dropped IS NULL")?;
    let mut update = transaction.prepare("UPDATE blob SET data = ?2, redacted = ?3 WHERE sha256 = ?1")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let (hash, data): ([u8; 32], Option<Vec<u8>>) = (row.get(0)?, row.get(1)?);
        let path = files.path(Digest(hash));
        let is_file = data.is_none();
        let Some(bytes) = data.map_or_else(|| read_if_there(&path), |data| Ok(Some(data)))? else { continue };
        if !scrubber.finds_any(&bytes) {
            continue;
        }
        let clean = scrubber.bytes(&bytes).into_owned();
        if names == Names::Spare && is_workflow(&bytes) {
            return Err(StoreError::InNames { stream: "the sessions that follow one workflow".to_owned() });
        }
        let proof = proof_after(&bytes, hash, row.get(2)?, &clean);
        update.execute(params![hash, (!is_file).then_some(&clean), proof])?;
        changed += 1;
        if is_file {
            rewritten.push((Digest(hash), clean));
        }
    }
    Ok((changed, rewritten))
}

/// Files that no row needs may hold the value too.
fn remove_spoilt_strays(
    transaction: &Transaction<'_>,
    files: &BlobFiles,
    scrubber: &Scrubber,
) -> Result<(), StoreError> {
    for stray in files.strays(transaction)?.into_iter().filter(|stray| !stray.is_dir()) {
        if read_if_there(&stray)?.is_some_and(|bytes| scrubber.finds_any(&bytes)) {
            fs::remove_file(&stray).map_err(StoreError::file("remove", &stray))?;
        }
    }
    Ok(())
}

/// A file that cannot be read may hold the value, so nobody may say that it was taken out.
fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::File { doing: "read", path: path.to_owned(), source }),
    }
}

fn forget_states(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    for stream in stream_names(transaction)? {
        if let Some(mut row) = HeadRow::load(transaction, &stream)? {
            row.head.state = None;
            row.save(transaction, &stream)?;
        }
    }
    Ok(())
}

/// Old pages in the write-ahead log still hold what was taken out of the tables.
fn empty_write_ahead_log(connection: &Connection) -> Result<(), StoreError> {
    let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy != 0 {
        return Err(StoreError::Busy { waited_ms: super::connection::BUSY_LIMIT_MS });
    }
    Ok(())
}
