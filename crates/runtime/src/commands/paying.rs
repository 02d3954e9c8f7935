//! What sessions cost together, as far as the log went when somebody last asked.

use std::fs::File;
use std::sync::{Mutex, PoisonError};

use longhaul_core::budget::Price;
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

/// The right to look into the purse that sessions share, and to take from it. Others wait for as long as it is held: two
/// who look at the same moment would both find what is enough for one.
#[derive(Debug)]
pub(crate) struct Purse {
    _file: Option<File>,
}

impl Commands {
    /// Takes the purse, if the next request costs anything. It goes back when what was taken is on record.
    pub(crate) fn purse(&self, price: Price) -> Result<Purse, Error> {
        let Some(store) = self.store.as_ref().filter(|_| !price.is_free()) else {
            return Ok(Purse { _file: None });
        };
        let path = store.folder().join("purse.lock");
        let file = File::create(&path).and_then(|file| file.lock().map(|()| file));
        let file = file.map_err(|source| Error::WriteFile { path, source })?;
        Ok(Purse { _file: Some(file) })
    }

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
