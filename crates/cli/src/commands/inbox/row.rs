//! An entry of the inbox in a list.

use longhaul_runtime::types::{Entry, EntryId, Timestamp};
use serde::Serialize;

use crate::output::Row;

#[derive(Debug, Serialize)]
pub(super) struct EntryLine<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    age_ms: u64,
}

impl<'a> EntryLine<'a> {
    pub(super) fn of(entry: &'a Entry, now: Timestamp) -> Self {
        Self { entry, age_ms: now.since_ms(entry.since) }
    }

    pub(super) const fn id(&self) -> &EntryId {
        &self.entry.id
    }
}

impl Row for EntryLine<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Entry { id, kind, urgency, title, .. } = self.entry;
        vec![
            ("ID", id.to_string()),
            ("URGENCY", urgency.word().to_owned()),
            ("KIND", kind.word().to_owned()),
            ("AGE", age(self.age_ms)),
            ("TITLE", title.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        let first = self.entry.text.lines().next().unwrap_or_default();
        (!first.is_empty()).then(|| first.chars().take(160).collect())
    }
}

/// The largest unit that fits is enough in a list.
fn age(ms: u64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let fitting = units.iter().find(|(_, length)| ms >= *length);
    fitting.map_or_else(|| "0s".to_owned(), |(unit, length)| format!("{}{unit}", ms / length))
}
