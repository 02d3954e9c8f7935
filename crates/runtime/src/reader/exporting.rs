//! The log as somebody follows it who keeps by himself how far he came.

use longhaul_events::{Digest, Position, Seq, SessionEvent, SessionId, Timestamp};
use longhaul_store::{DamagedRow, Decision, Log as _};

use super::Reader;
use crate::error::Error;

impl Reader {
    /// Decisions of all streams after a position, in the order of commits.
    pub(crate) fn decisions_since(
        &self,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Result<Decision, DamagedRow>>, Error> {
        Ok(self.store.since(after, limit)?)
    }

    /// Whether this log has this decision at a position. A damaged one is what it was.
    pub(crate) fn is_at(&self, position: Position, hash: Digest) -> Result<bool, Error> {
        if position == Position(0) {
            return Ok(true);
        }
        let found = self.store.since(Position(position.0 - 1), 1)?;
        Ok(match found.first() {
            Some(Ok(decision)) => decision.position == position && decision.hash == hash,
            Some(Err(damaged)) => damaged.position == position,
            None => false,
        })
    }

    /// The newest decision.
    pub(crate) fn end(&self) -> Result<(Position, Digest), Error> {
        let last = self.store.last_position()?;
        let found = self.store.since(Position(last.0.saturating_sub(1)), 1)?;
        Ok(match found.first() {
            Some(Ok(decision)) => (decision.position, decision.hash),
            Some(Err(damaged)) => (damaged.position, Digest::ZERO),
            None => (last, Digest::ZERO),
        })
    }

    /// Looks at the events of a session that come before one of them.
    pub(crate) fn session_events_before(
        &self,
        id: SessionId,
        before: Seq,
        mut look: impl FnMut(Seq, Timestamp, &SessionEvent),
    ) -> Result<(), Error> {
        self.decisions(id.into())
            .find(|decision| {
                if decision.seq >= before {
                    return Ok(Some(()));
                }
                let events = decision.readable_events::<SessionEvent>()?;
                (0..)
                    .zip(&events)
                    .for_each(|(index, event)| look(decision.seq.plus(index), decision.at, event));
                Ok(None)
            })
            .map(|_| ())
    }
}
