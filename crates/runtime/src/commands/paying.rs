//! What sessions cost together, as far as the log went when somebody last asked.

use std::sync::{Mutex, PoisonError};

use longhaul_events::{Position, SessionId};
use longhaul_store::Log as _;

use super::Commands;
use crate::error::Error;
use crate::reader::paying::Paid;

/// The last answer, and what it was the answer to. The log only grows, so it holds until there is more of it.
#[derive(Debug, Default)]
pub(super) struct LastSeen(Mutex<Option<(Question, Paid)>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Question {
    end: Position,
    /// Another log may stand in the place of the one that was read.
    epoch: u64,
    id: SessionId,
    day: i64,
}

impl Commands {
    /// What the tree of a session and the day have cost so far; `None` over a log that is no store.
    pub(crate) fn paid_beside(&self, id: SessionId) -> Result<Option<Paid>, Error> {
        let (Some(store), Some(reader)) = (&self.store, self.reader()) else { return Ok(None) };
        // Before the rows are read: what came meanwhile makes the next one look again.
        let (end, epoch) = (store.last_position()?, self.state_epoch());
        let question = Question { end, epoch, id, day: self.today() };
        let mut last = self.paid.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, paid)) = *last
            && asked == question
        {
            return Ok(Some(paid));
        }
        let paid = reader.paid_beside(id, question.day)?;
        *last = Some((question, paid));
        Ok(Some(paid))
    }
}
