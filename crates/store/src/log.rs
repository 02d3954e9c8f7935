//! The one door to the log, whatever lies behind it.

use std::sync::Arc;

use longhaul_events::{DecodeError, Digest, Position, Seq, StreamEvent, StreamId, Timestamp, decode_batch};

use crate::append::{Append, Appended, State};
use crate::error::{AppendError, StoreError};

/// An append-only log of decisions in streams. Every answer was verified, or is an error.
pub trait Log: Send + Sync {
    /// Stores all or nothing. When it returns, the disk has it.
    fn append(&self, append: Append) -> Result<Appended, AppendError>;

    /// The end of a stream; `None` if nothing was ever written to it.
    fn head(&self, stream: StreamId) -> Result<Option<Head>, StoreError>;

    /// Decisions from the one that holds the event after `after`, in order, at most `limit`.
    fn read(&self, stream: StreamId, after: Seq, limit: usize) -> Result<Vec<Decision>, StoreError>;

    /// Decisions of all streams after a position, in the order of commits, at most `limit`. A damaged one is
    /// named and does not hide the others.
    fn since(&self, after: Position, limit: usize) -> Result<Vec<Result<Decision, DamagedRow>>, StoreError>;

    /// The position of the newest decision.
    fn last_position(&self) -> Result<Position, StoreError>;

    /// Counts the redactions that this process knows of. A state from before one may hold what it took out,
    /// so an append that brings such a state is refused like a conflict: load again.
    fn state_epoch(&self) -> u64;

    /// The bytes of a blob.
    fn blob(&self, hash: Digest) -> Result<Arc<[u8]>, StoreError>;
}

/// The end of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub seq: Seq,
    pub hash: Digest,
    pub at: Timestamp,
    pub state: Option<State>,
}

/// A row that is no longer what we wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRow {
    pub position: Position,
    pub stream: String,
    pub reason: String,
}

/// One stored decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub position: Position,
    /// As text: a newer release may have kinds of streams that this one does not know.
    pub stream: String,
    /// The number of its first event.
    pub seq: Seq,
    pub count: u64,
    pub at: Timestamp,
    pub body: Vec<u8>,
    pub previous: Digest,
    pub hash: Digest,
    /// The digest of the bytes as they were first stored.
    pub digest: Digest,
    /// Whether values were taken out since.
    pub redacted: bool,
}

impl Decision {
    /// The number of its last event.
    pub fn last_seq(&self) -> Seq {
        Seq(self.seq.0 + self.count.max(1) - 1)
    }

    pub fn events<E: StreamEvent>(&self) -> Result<Vec<E>, DecodeError> {
        decode_batch(&self.body)
    }

    /// The events as an error that quarantines the stream when they cannot be read.
    pub fn readable_events<E: StreamEvent>(&self) -> Result<Vec<E>, StoreError> {
        self.events().map_err(|error| StoreError::Quarantined {
            stream: self.stream.clone(),
            reason: format!("event {} cannot be read: {error}", self.seq),
        })
    }
}
