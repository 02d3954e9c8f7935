//! The one way into the log: secrets out, large contents aside, conflicts tried again.

use std::sync::Arc;

use longhaul_core::scrub::Scrubber;
use longhaul_events::{Content, Kept, Seq, StreamEvent, StreamId, Timestamp};
use longhaul_store::{Append, AppendError, Log, NewBlob, State, StreamAppend};
use serde_json::Value;

use crate::error::Error;

/// Larger contents become blobs, so that reading a stream stays cheap.
const INLINE_CONTENT: usize = 4096;

/// The same for what is also part of a stream's state, which is written with every decision.
const INLINE_STATE: usize = 256;

/// How often a decision is made anew because somebody else wrote first.
const ATTEMPTS: usize = 64;

pub(crate) struct Recorder {
    pub(crate) log: Arc<dyn Log>,
    scrubber: Arc<Scrubber>,
}

/// A stream's state, as its owner loads, changes and stores it.
pub(crate) trait Aggregate: Sized {
    type Event: StreamEvent;

    fn seq(&self) -> Seq;
    fn apply(&mut self, event: &Self::Event);
    fn state(&self) -> State;
}

/// Contents that are ready to be named by events, and the blobs that must go with them.
#[derive(Default)]
pub(crate) struct Contents {
    blobs: Vec<NewBlob>,
}

/// Where a decision goes and as of when, with the contents that its events name.
#[derive(Clone, Copy)]
pub(crate) struct Write<'a> {
    pub(crate) stream: StreamId,
    pub(crate) at: Timestamp,
    pub(crate) contents: &'a Contents,
}

impl Contents {
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn bytes(&self, hash: longhaul_events::Digest) -> Option<&[u8]> {
        self.blobs.iter().find(|blob| blob.reference().sha256 == hash).map(NewBlob::bytes)
    }
}

impl Recorder {
    pub(crate) fn new(log: Arc<dyn Log>, scrubber: Scrubber) -> Self {
        Self { log, scrubber: Arc::new(scrubber) }
    }

    pub(crate) const fn scrubber(&self) -> &Arc<Scrubber> {
        &self.scrubber
    }

    /// Takes secrets out of a value and decides where it will lie.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn content(&self, mut value: Value, contents: &mut Contents) -> Content {
        self.scrubber.value(&mut value);
        self.lay(value, INLINE_CONTENT, &mut contents.blobs)
    }

    /// Puts a value without secrets where it belongs by its size.
    fn lay(&self, mut value: Value, limit: usize, blobs: &mut Vec<NewBlob>) -> Content {
        let mut text = value.to_string();
        // A secret that is a document itself is spread over the structure of the value, and shows in its text.
        if self.scrubber.finds_any(text.as_bytes()) {
            value = Value::String(self.scrubber.text(&text).into_owned());
            text = value.to_string();
        }
        if text.len() <= limit {
            return Content::Inline(value);
        }
        let blob = NewBlob::new(text.into_bytes());
        let reference = blob.reference();
        blobs.push(blob);
        Content::Blob(reference)
    }

    /// Lets `decide` look at fresh state until what it decided was stored on top of that state.
    pub(crate) fn record<A: Aggregate, Answer>(
        &self,
        write: Write<'_>,
        mut decide: impl FnMut() -> Result<(A, Decided<A::Event, Answer>), Error>,
    ) -> Result<(Answer, Stored<A>), Error> {
        for _ in 0..ATTEMPTS {
            let epoch = self.log.state_epoch();
            let (state, decided) = decide()?;
            let (events, answer) = match decided {
                Decided::Nothing(answer) => {
                    return Ok((answer, Stored { state, events: Vec::new(), at: write.at }));
                }
                Decided::Events(events, answer) => (events, answer),
            };
            if let Some(after) = self.store(write, Loaded { state, epoch }, events)? {
                return Ok((answer, after));
            }
        }
        Err(Error::TooManyConflicts)
    }

    /// Stores events on top of the state that they were decided on; `None` if somebody else wrote first.
    pub(crate) fn store<A: Aggregate>(
        &self,
        write: Write<'_>,
        loaded: Loaded<A>,
        events: Vec<A::Event>,
    ) -> Result<Option<Stored<A>>, Error> {
        let Write { stream, at, contents } = write;
        let Loaded { state, epoch } = loaded;
        let mut blobs = contents.blobs.clone();
        let (part, stored) = self.part(at, Piece { stream, state, events }, &mut blobs);
        let is_stored = self.append(Append { at, state_epoch: epoch, streams: vec![part], blobs })?;
        Ok(is_stored.then_some(stored))
    }

    /// Begins a decision about several streams.
    pub(crate) fn batch(&self, at: Timestamp, epoch: u64) -> Batch<'_> {
        Batch { recorder: self, at, epoch, streams: Vec::new(), blobs: Vec::new() }
    }

    fn part<A: Aggregate>(
        &self,
        at: Timestamp,
        piece: Piece<A>,
        blobs: &mut Vec<NewBlob>,
    ) -> (StreamAppend, Stored<A>) {
        let Piece { stream, mut state, events } = piece;
        let events = self.clean(events, blobs);
        let expected = state.seq();
        events.iter().for_each(|event| state.apply(event));
        (StreamAppend::new(stream, expected, &events, Some(state.state())), Stored { state, events, at })
    }

    /// Whether nobody else wrote first.
    fn append(&self, append: Append) -> Result<bool, Error> {
        match self.log.append(append) {
            Ok(_) => Ok(true),
            Err(AppendError::Conflict { .. }) => Ok(false),
            Err(AppendError::Store(error)) => Err(error.into()),
        }
    }

    /// The last net: whatever text an event carries, no known secret is in it, and nothing large.
    fn clean<E: StreamEvent>(&self, mut events: Vec<E>, blobs: &mut Vec<NewBlob>) -> Vec<E> {
        for event in &mut events {
            self.scrubber.event(event);
            for slot in event.contents() {
                let limit = match slot.kept {
                    Kept::InEvent => INLINE_CONTENT,
                    Kept::InState => INLINE_STATE,
                };
                if let Content::Inline(value) = slot.content {
                    *slot.content = self.lay(value.take(), limit, blobs);
                }
            }
        }
        events
    }
}

/// A decision about several streams: all of it is stored, or none.
pub(crate) struct Batch<'r> {
    recorder: &'r Recorder,
    at: Timestamp,
    /// The state epoch of the log before anything was loaded that this was decided on.
    epoch: u64,
    streams: Vec<StreamAppend>,
    blobs: Vec<NewBlob>,
}

impl Batch<'_> {
    /// Adds what one stream gets, and says what it is after that.
    pub(crate) fn add<A: Aggregate>(&mut self, piece: Piece<A>) -> Stored<A> {
        let (part, stored) = self.recorder.part(self.at, piece, &mut self.blobs);
        self.streams.push(part);
        stored
    }

    /// Whether it was stored; not if somebody else wrote to one of the streams first.
    pub(crate) fn commit(self) -> Result<bool, Error> {
        let Self { recorder, at, epoch, streams, blobs } = self;
        if streams.is_empty() {
            return Ok(true);
        }
        recorder.append(Append { at, state_epoch: epoch, streams, blobs })
    }
}

/// What one stream gets of a decision.
pub(crate) struct Piece<A: Aggregate> {
    pub(crate) stream: StreamId,
    pub(crate) state: A,
    pub(crate) events: Vec<A::Event>,
}

/// What was stored, and the state after it.
pub(crate) struct Stored<A: Aggregate> {
    pub(crate) state: A,
    pub(crate) events: Vec<A::Event>,
    pub(crate) at: Timestamp,
}

/// A state, and the state epoch of the log before it was loaded.
pub(crate) struct Loaded<A> {
    pub(crate) state: A,
    pub(crate) epoch: u64,
}

/// What a decision came to.
pub(crate) enum Decided<Event, Answer> {
    /// The answer needs no new facts.
    Nothing(Answer),
    Events(Vec<Event>, Answer),
}
