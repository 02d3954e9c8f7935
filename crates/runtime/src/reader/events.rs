//! The events of one session, one after the other, with the values that they name.

use longhaul_core::time::rfc3339;
use longhaul_events::{Content, Seq, SessionEvent, SessionId};
use serde_json::Value;

use super::Reader;
use crate::error::Error;
use crate::reading::value_of;

/// An event with its number and its time.
pub(super) struct Told {
    pub(super) seq: Seq,
    pub(super) at: String,
    pub(super) event: SessionEvent,
}

impl Reader {
    /// Reads a session from its beginning.
    pub(super) fn each_event(
        &self,
        id: SessionId,
        mut look: impl FnMut(Told) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.decisions(id.into()).each(|decision| {
            let at = rfc3339(decision.at);
            let events = decision.readable_events::<SessionEvent>()?;
            (0..).zip(events).try_for_each(|(index, event)| {
                look(Told { seq: decision.seq.plus(index), at: at.clone(), event })
            })
        })
    }

    pub(super) fn value(&self, content: &Content) -> Result<Value, Error> {
        value_of(&*self.store, content)
    }

    pub(super) fn words(&self, content: &Content) -> Result<String, Error> {
        Ok(match self.value(content)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }
}
