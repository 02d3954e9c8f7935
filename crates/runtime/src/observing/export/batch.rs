//! From the log to what is told: some decisions at a time, and the spans that are over with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_core::spans::{Noted, Span, Telling, Tracer};
use longhaul_events::{Digest, Seq, SessionEvent, SessionId, StreamId, Timestamp};
use longhaul_store::Decision;

use super::cursor::Cursor;
use crate::reader::Reader;
use crate::system::System;

/// How many decisions are read at a time.
const DECISIONS: usize = 500;
/// A request holds about so many spans.
const MOST_SPANS: usize = 512;
/// Of so many sessions it is remembered what is under way; of others it is read again.
const MOST_TRACERS: usize = 256;

/// What is told in one go.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) spans: Vec<Span>,
    /// Where that leads.
    pub(super) cursor: Cursor,
    /// When the last of it happened.
    pub(super) at: Timestamp,
    pub(super) is_last: bool,
}

/// Whoever reads the log for it.
#[derive(Debug)]
pub(super) struct Reading {
    telling: Telling,
    reader: Option<Arc<Reader>>,
    tracers: BTreeMap<SessionId, (Seq, Tracer)>,
}

impl Reading {
    pub(super) const fn new(telling: Telling) -> Self {
        Self { telling, reader: None, tracers: BTreeMap::new() }
    }

    /// `None` while there is no log.
    pub(super) fn open(&mut self, system: &System) -> Result<Option<Arc<Reader>>, String> {
        if self.reader.is_none() {
            self.reader = system.reader().map_err(|error| error.to_string())?.map(Arc::new);
        }
        Ok(self.reader.clone())
    }

    /// What comes after a cursor; `None` if nothing does.
    pub(super) fn batch(
        &mut self,
        reader: &Reader,
        system: &System,
        cursor: &Cursor,
    ) -> Result<Option<Batch>, String> {
        let found = reader.decisions_since(cursor.position, DECISIONS).map_err(|error| error.to_string())?;
        let is_last = found.len() < DECISIONS;
        let mut batch = Batch { spans: Vec::new(), cursor: cursor.clone(), at: Timestamp(0), is_last };
        if found.is_empty() {
            return Ok(None);
        }
        for decision in found {
            match decision {
                Ok(decision) => {
                    batch.spans.extend(self.follow(reader, &decision));
                    (batch.cursor.position, batch.cursor.hash) = (decision.position, decision.hash);
                    batch.at = batch.at.max(decision.at);
                }
                // It is in nobody's way; `doctor` names it.
                Err(damaged) => (batch.cursor.position, batch.cursor.hash) = (damaged.position, Digest::ZERO),
            }
            if batch.spans.len() >= MOST_SPANS {
                batch.is_last = false;
                break;
            }
        }
        if !batch.spans.is_empty() {
            // Read anew each time: a secret may have become known since the log was written.
            let scrubber = system.scrubber().map_err(|error| error.to_string())?;
            for span in &mut batch.spans {
                span.words().for_each(|words| *words = scrubber.text(words).into_owned());
                batch.cursor.meters.take(span);
            }
        }
        Ok(Some(batch))
    }

    /// The spans that are over with a decision. What cannot be read has none.
    fn follow(&mut self, reader: &Reader, decision: &Decision) -> Vec<Span> {
        let Ok(StreamId::Session(id)) = decision.stream.parse() else { return Vec::new() };
        let Ok(events) = decision.events::<SessionEvent>() else { return Vec::new() };
        let known = self.tracers.remove(&id).filter(|(seq, _)| seq.plus(1) == decision.seq);
        let tracer = known.map(|(_, tracer)| tracer).or_else(|| self.remember(reader, id, decision.seq));
        let Some(mut tracer) = tracer else { return Vec::new() };
        let noted = |(index, event)| Noted { seq: decision.seq.plus(index), at: decision.at, event };
        let spans = (0..).zip(&events).flat_map(|told| tracer.take(noted(told))).collect();
        if !tracer.is_over() {
            if self.tracers.len() >= MOST_TRACERS {
                self.tracers.pop_first();
            }
            self.tracers.insert(id, (decision.last_seq(), tracer));
        }
        spans
    }

    /// What is under way in a session before an event of it.
    fn remember(&self, reader: &Reader, id: SessionId, before: Seq) -> Option<Tracer> {
        let mut tracer = Tracer::new(id, self.telling);
        reader
            .session_events_before(id, before, |seq, at, event| {
                tracer.take(Noted { seq, at, event });
            })
            .ok()?;
        Some(tracer)
    }
}
