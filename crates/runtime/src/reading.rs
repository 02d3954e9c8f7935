//! Reading from a log: the decisions of a stream in order, and the values that events name.

use longhaul_events::{Content, Seq, StreamId};
use longhaul_store::{Decision, Log};
use serde_json::Value;

use crate::error::Error;

/// The decisions of a stream after an event.
pub(crate) struct Decisions<'a> {
    pub(crate) log: &'a dyn Log,
    pub(crate) stream: StreamId,
    pub(crate) after: Seq,
    /// How many are read at a time: few for a search that ends soon.
    pub(crate) batch: usize,
}

impl Decisions<'_> {
    /// Looks at each until one has what is looked for.
    pub(crate) fn find<Found>(
        self,
        mut look: impl FnMut(&Decision) -> Result<Option<Found>, Error>,
    ) -> Result<Option<Found>, Error> {
        let mut after = self.after;
        loop {
            let decisions = self.log.read(self.stream, after, self.batch)?;
            let Some(last) = decisions.last() else { return Ok(None) };
            after = last.last_seq();
            for decision in &decisions {
                if let Some(found) = look(decision)? {
                    return Ok(Some(found));
                }
            }
        }
    }

    /// Looks at all of them.
    pub(crate) fn each(self, mut look: impl FnMut(&Decision) -> Result<(), Error>) -> Result<(), Error> {
        self.find(|decision| look(decision).map(|()| None::<()>)).map(|_| ())
    }
}

/// What a content says.
pub(crate) fn value_of(log: &dyn Log, content: &Content) -> Result<Value, Error> {
    match content {
        Content::Inline(value) => Ok(value.clone()),
        Content::Blob(blob) => Ok(parsed(&log.blob(blob.sha256)?)),
    }
}

/// A redacted blob may no longer be JSON; then its text is the value.
pub(crate) fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}
