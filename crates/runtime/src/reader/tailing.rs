//! The story of a session while it goes on: only what is new, told once.

use std::collections::BTreeMap;

use longhaul_core::time::rfc3339;
use longhaul_events::{NodeId, Seq, SessionEvent, SessionId, StepId};

use super::artifacts::Numbering;
use super::events::Told;
use super::story::{Happened, StoryEntry, Teller, Telling};
use super::{BATCH, Reader};
use crate::error::Error;
use crate::reading::Decisions;

/// How far a story was told.
#[derive(Debug)]
pub struct StoryTail {
    session: SessionId,
    after: Seq,
    steps: BTreeMap<NodeId, StepId>,
    numbering: Numbering,
    /// Only what a fork may have to tell of again.
    kept: Vec<StoryEntry>,
    telling: Telling,
}

impl StoryTail {
    pub fn of(session: SessionId) -> Self {
        let (steps, kept) = (BTreeMap::new(), Vec::new());
        Self {
            session,
            after: Seq(0),
            steps,
            numbering: Numbering::new(session),
            kept,
            telling: Telling::Events,
        }
    }

    /// The same, with what was decided on the way.
    #[must_use]
    pub fn with_reasons(self) -> Self {
        Self { telling: Telling::WithReasons, ..self }
    }
}

impl Reader {
    /// What happened since this was last asked.
    pub fn tell_more(&self, tail: &mut StoryTail) -> Result<Vec<StoryEntry>, Error> {
        let before = tail.kept.len();
        let mut teller = Teller {
            reader: self,
            session: tail.session,
            steps: std::mem::take(&mut tail.steps),
            numbering: std::mem::replace(&mut tail.numbering, Numbering::new(tail.session)),
            entries: std::mem::take(&mut tail.kept),
        };
        let mut after = tail.after;
        let decisions = Decisions { log: &*self.store, stream: tail.session.into(), after, batch: BATCH };
        decisions.each(|decision| {
            let at = rfc3339(decision.at);
            let events = decision.readable_events::<SessionEvent>()?;
            for (index, event) in (0..).zip(events) {
                teller.take(Told { seq: decision.seq.plus(index), at: at.clone(), event }, tail.telling)?;
            }
            after = decision.last_seq();
            Ok(())
        })?;
        let new = teller.entries.split_off(before.min(teller.entries.len()));
        let is_kept =
            |entry: &&StoryEntry| matches!(entry.what, Happened::Finished { .. } | Happened::Refused { .. });
        teller.entries.extend(new.iter().filter(is_kept).cloned());
        let Teller { steps, numbering, entries, .. } = teller;
        *tail = StoryTail {
            session: tail.session,
            after,
            steps,
            numbering,
            kept: entries,
            telling: tail.telling,
        };
        Ok(new)
    }
}
