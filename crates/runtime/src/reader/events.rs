//! The events of one session, one after the other, with the values that they name.

use longhaul_core::time::rfc3339;
use longhaul_events::{Content, Seq, SessionEvent, SessionId};
use longhaul_store::Log as _;
use serde_json::Value;

use super::{BATCH, Reader};
use crate::error::Error;

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
        let mut after = Seq(0);
        loop {
            let decisions = self.store.read(id.into(), after, BATCH)?;
            let Some(last) = decisions.last() else { return Ok(()) };
            after = last.last_seq();
            for decision in &decisions {
                let at = rfc3339(decision.at);
                let events = decision.readable_events::<SessionEvent>()?;
                for (index, event) in (0..).zip(events) {
                    look(Told { seq: decision.seq.plus(index), at: at.clone(), event })?;
                }
            }
        }
    }

    /// What a content says. A redacted blob may no longer be JSON; then its text is the value.
    pub(super) fn value(&self, content: &Content) -> Result<Value, Error> {
        Ok(match content {
            Content::Inline(value) => value.clone(),
            Content::Blob(blob) => {
                let bytes = self.store.blob(blob.sha256)?;
                serde_json::from_slice(&bytes)
                    .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()))
            }
        })
    }

    pub(super) fn words(&self, content: &Content) -> Result<String, Error> {
        Ok(match self.value(content)? {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }
}
