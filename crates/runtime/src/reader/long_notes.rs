//! Words in notes that are too long for the rows of a list: they lie in blobs, and are read only when somebody asks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use longhaul_events::{BlobRef, Content, SessionEvent, SessionId};
use longhaul_store::views::{SessionRow, SessionStatus};
use longhaul_store::{Decision, Log as _};

use super::Reader;
use crate::error::Error;
use crate::reading::parsed;

/// How much is read for one search; whoever asks waits for it.
const MOST_BYTES: u64 = 16 << 20;
const MOST_TIME: Duration = Duration::from_secs(1);

/// Which of the words that were asked for are in the long notes of a session.
pub(super) type Found = BTreeMap<SessionId, BTreeSet<String>>;

impl Reader {
    /// Looks through open sessions, the newest first, until all is seen or a bound is reached.
    pub(super) fn in_long_notes(&self, rows: &[SessionRow], words: &[String]) -> Found {
        let mut search = Search {
            reader: self,
            words,
            bytes: MOST_BYTES,
            until: Instant::now() + MOST_TIME,
            found: Found::new(),
        };
        let mut rows: Vec<&SessionRow> = rows
            .iter()
            .filter(|row| row.status == SessionStatus::Open && row.workflow.is_some() && row.damage.is_none())
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.updated_at));
        for row in rows {
            if search.is_over() {
                break;
            }
            // What cannot be read is `doctor`'s to name; others may still be found.
            let _ = self.decisions(row.id.into()).find(|decision| search.look(row.id, decision));
        }
        search.found
    }
}

struct Search<'a> {
    reader: &'a Reader,
    words: &'a [String],
    /// What may still be read.
    bytes: u64,
    until: Instant,
    found: Found,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.bytes == 0 || Instant::now() >= self.until
    }

    /// `Some` when there is no more to be found in this session, or no more may be read.
    fn look(&mut self, id: SessionId, decision: &Decision) -> Result<Option<()>, Error> {
        for event in decision.readable_events::<SessionEvent>()? {
            let (SessionEvent::StepFinished { payload: Content::Blob(notes), .. }
            | SessionEvent::Checkpointed { notes: Content::Blob(notes), .. }) = event
            else {
                continue;
            };
            self.search(id, notes);
        }
        let has_all = self.found.get(&id).is_some_and(|found| found.len() == self.words.len());
        Ok((has_all || self.is_over()).then_some(()))
    }

    fn search(&mut self, id: SessionId, blob: BlobRef) {
        // One that is too large for what is left must not keep smaller ones from being read.
        let Some(left) = self.bytes.checked_sub(blob.bytes) else { return };
        self.bytes = left;
        let Ok(bytes) = self.reader.store.blob(blob.sha256) else { return };
        let value = parsed(&bytes);
        let Some(notes) = value["notes"].as_str().or(value.as_str()) else { return };
        let notes = notes.to_lowercase();
        let found = self.words.iter().filter(|word| notes.contains(word.as_str())).cloned();
        self.found.entry(id).or_default().extend(found);
    }
}
