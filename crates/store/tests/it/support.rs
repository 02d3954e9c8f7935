//! Small things that the tests share.

use std::io::BufRead;
use std::path::Path;

use longhaul_core::scrub::Scrubber;
use longhaul_events::{
    CloseOutcome, Content, Digest, NodeId, Nonce, Seq, SessionEvent, SessionId, SessionKey, StepId, StreamId,
    Timestamp,
};
use longhaul_store::{
    Access, Append, AppendError, Appended, ImportError, Imported, Log, NewBlob, Options, SqliteLog, State,
    StreamAppend,
};
use serde_json::json;

pub(crate) fn sqlite(folder: &Path) -> SqliteLog {
    SqliteLog::open(&options(folder)).unwrap()
}

pub(crate) fn options(folder: &Path) -> Options {
    Options { folder: folder.to_owned(), poke: None, access: Access::Write }
}

pub(crate) fn session(n: u8) -> StreamId {
    StreamId::from(SessionId::from_bytes([n; 8]))
}

pub(crate) fn opened(goal: &str) -> SessionEvent {
    SessionEvent::Opened {
        key: SessionKey::from_bytes([7; 16]),
        goal: Content::Inline(json!(goal)),
        workspace: None,
        parent: None,
        task: None,
    }
}

pub(crate) fn step(n: u64) -> SessionEvent {
    SessionEvent::StepHandedOut {
        node: NodeId(Seq(n)),
        after: None,
        step: StepId(format!("step-{n}")),
        prompt: Content::Inline(json!("Do it.")),
        nonce: Nonce::from_bytes([1; 5]),
        place: longhaul_events::Place::default(),
    }
}

pub(crate) fn finished_with(blob: &NewBlob) -> SessionEvent {
    SessionEvent::StepFinished {
        node: NodeId(Seq(2)),
        nonce: Nonce::from_bytes([1; 5]),
        payload: Content::Blob(blob.reference()),
        payload_hash: Digest::ZERO,
        answer: Content::Inline(json!(null)),
        epoch: None,
    }
}

pub(crate) fn closed() -> SessionEvent {
    SessionEvent::Closed { outcome: CloseOutcome::Completed }
}

pub(crate) fn state() -> State {
    State { fold_version: 1, bytes: b"state".to_vec() }
}

pub(crate) fn append(
    log: &dyn Log,
    stream: StreamId,
    expected: u64,
    events: &[SessionEvent],
) -> Result<Appended, AppendError> {
    append_at(log, stream, expected, events, Timestamp(1000))
}

pub(crate) fn append_at(
    log: &dyn Log,
    stream: StreamId,
    expected: u64,
    events: &[SessionEvent],
    at: Timestamp,
) -> Result<Appended, AppendError> {
    let part = StreamAppend::new(stream, Seq(expected), events, Some(state()));
    log.append(Append { at, state_epoch: log.state_epoch(), streams: vec![part], blobs: Vec::new() })
}

pub(crate) fn append_blob(log: &dyn Log, stream: StreamId, expected: u64, blob: NewBlob) {
    let part = StreamAppend::new(stream, Seq(expected), &[finished_with(&blob)], None);
    log.append(Append { at: Timestamp(1000), state_epoch: 0, streams: vec![part], blobs: vec![blob] })
        .unwrap();
}

/// Takes in an export as if somebody had vouched for it.
pub(crate) fn take_in(
    log: &SqliteLog,
    source: &mut dyn BufRead,
    scrubber: &Scrubber,
) -> Result<Imported, ImportError> {
    let mut export = log.spool(source, scrubber)?;
    let claims = export.look()?.claims;
    export.take_in(&claims)
}

/// All events of a stream, verified.
pub(crate) fn events(log: &dyn Log, stream: StreamId) -> Vec<SessionEvent> {
    let decisions = log.read(stream, Seq(0), usize::MAX).unwrap();
    decisions.iter().flat_map(|decision| decision.events().unwrap()).collect()
}
