//! The log in memory: the same promises but durability, for tests and simulations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use longhaul_core::chain::{Header, link};
use longhaul_events::{Digest, Position, Seq, StreamId, Timestamp};

use crate::append::{Append, Appended, StreamAppend};
use crate::error::{AppendError, BlobProblem, StoreError};
use crate::log::{DamagedRow, Decision, Head, Log};

#[derive(Debug, Default)]
pub struct MemoryLog(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    decisions: Vec<Decision>,
    heads: BTreeMap<StreamId, Head>,
    blobs: BTreeMap<Digest, Arc<[u8]>>,
}

impl MemoryLog {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no code panics while it holds this lock")
    }
}

impl Log for MemoryLog {
    fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let mut inner = self.inner();
        for (index, stream) in append.streams.iter().enumerate() {
            inner.check(stream, &append.streams[..index])?;
        }
        for blob in &append.blobs {
            inner.blobs.insert(blob.reference.sha256, blob.bytes.clone());
        }
        for stream in append.streams {
            inner.store(append.at, stream);
        }
        Ok(Appended { position: inner.last_position() })
    }

    fn head(&self, stream: StreamId) -> Result<Option<Head>, StoreError> {
        Ok(self.inner().heads.get(&stream).cloned())
    }

    fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Decision>, StoreError> {
        let name = stream.to_string();
        let inner = self.inner();
        let wanted = inner.decisions.iter().filter(|row| row.stream == name && row.last_seq() > after);
        Ok(wanted.take(limit).cloned().collect())
    }

    fn since(&self, after: Position, limit: usize) -> Result<Vec<Result<Decision, DamagedRow>>, StoreError> {
        let inner = self.inner();
        Ok(inner.decisions.iter().filter(|row| row.position > after).take(limit).cloned().map(Ok).collect())
    }

    fn last_position(&self) -> Result<Position, StoreError> {
        Ok(self.inner().last_position())
    }

    fn state_epoch(&self) -> u64 {
        0
    }

    fn blob(&self, hash: Digest) -> Result<Arc<[u8]>, StoreError> {
        let found = self.inner().blobs.get(&hash).cloned();
        found.ok_or(StoreError::Blob { hash, problem: BlobProblem::Missing })
    }
}

impl Inner {
    fn last_position(&self) -> Position {
        Position(self.decisions.len() as u64)
    }

    /// `earlier` are the parts of the same append that come before, which move a stream on too.
    fn check(&self, stream: &StreamAppend, earlier: &[StreamAppend]) -> Result<(), AppendError> {
        let stored = self.heads.get(&stream.stream).map_or(0, |head| head.seq.0);
        let moved: u64 =
            earlier.iter().filter(|other| other.stream == stream.stream).map(|other| other.count).sum();
        let actual = Seq(stored + moved);
        if actual == stream.expected {
            return Ok(());
        }
        Err(AppendError::Conflict { stream: stream.stream.to_string(), expected: stream.expected, actual })
    }

    fn store(&mut self, at: Timestamp, append: StreamAppend) {
        let before = self.heads.get(&append.stream);
        let previous = before.map_or(Digest::ZERO, |head| head.hash);
        let at = before.map_or(at, |head| head.at.max(at));
        let name = append.stream.to_string();
        let header = Header { stream: &name, seq: append.expected.plus(1), count: append.count, at };
        let digest = append.digest;
        let hash = link(previous, &header, digest);
        self.decisions.push(Decision {
            position: self.last_position().plus(1),
            seq: header.seq,
            count: append.count,
            at,
            body: append.body,
            previous,
            hash,
            digest,
            redacted: false,
            stream: name.clone(),
        });
        let head = Head { seq: append.expected.plus(append.count), hash, at, state: append.state };
        self.heads.insert(append.stream, head);
    }
}
