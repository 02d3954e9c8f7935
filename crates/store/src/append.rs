//! What is appended: decisions for one or more streams, all or none.

use longhaul_core::canonical::sha256;
use longhaul_events::{Digest, Position, Seq, StreamEvent, StreamId, Timestamp, encode_batch};

use crate::blob::NewBlob;

/// One atomic write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    pub at: Timestamp,
    /// What [`crate::Log::state_epoch`] said before the states were loaded that this was decided on.
    pub state_epoch: u64,
    pub streams: Vec<StreamAppend>,
    pub blobs: Vec<NewBlob>,
}

/// One decision: its events, and the state of the stream after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamAppend {
    pub stream: StreamId,
    /// The number of the last event that the decision was based on.
    pub expected: Seq,
    pub(crate) body: Vec<u8>,
    /// Made by the caller's thread, before anybody waits for it.
    pub(crate) digest: Digest,
    pub(crate) count: u64,
    pub(crate) state: Option<State>,
}

/// A fold of a stream up to its end, so that nobody has to fold it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// States of another version are ignored and made anew.
    pub fold_version: u32,
    pub bytes: Vec<u8>,
}

/// Where an append went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// Of the last decision of the append.
    pub position: Position,
}

impl Append {
    pub(crate) fn has_states(&self) -> bool {
        self.streams.iter().any(|part| part.state.is_some())
    }
}

impl StreamAppend {
    pub fn new<E: StreamEvent>(stream: StreamId, expected: Seq, events: &[E], state: Option<State>) -> Self {
        debug_assert_eq!(stream.kind(), E::KIND);
        let body = encode_batch(events);
        Self { stream, expected, digest: sha256(&body), body, count: events.len() as u64, state }
    }
}
