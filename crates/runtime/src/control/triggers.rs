//! What came of triggers so far.

use std::collections::BTreeMap;

use longhaul_core::intake::Counts;
use longhaul_events::{TaskId, Timestamp, TriggerId};

use super::Control;
use crate::error::Error;
use crate::reader::Reader;
use crate::triggers::{TriggerEntry, TriggerState};

/// What is on record of one trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnRecord {
    /// When something last came of it.
    pub last_at: Timestamp,
    pub last_task: Option<TaskId>,
    pub counts: Counts,
}

/// A trigger with what is on record of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerOnRecord {
    /// The workspace and the id.
    pub full_name: String,
    pub state: TriggerState,
    /// What it waits for, in a word.
    pub start: &'static str,
    pub record: Option<OnRecord>,
}

impl Reader {
    /// What is on record of all triggers that ever did anything.
    pub fn trigger_records(&self) -> Result<BTreeMap<TriggerId, OnRecord>, Error> {
        let rows = self.trigger_rows()?.into_iter().filter(|row| row.damage.is_none());
        let record = |row: longhaul_store::views::TriggerRow| {
            let (last_at, last_task, counts) = (row.updated_at, row.history.last_task, row.history.counts);
            (row.history.id, OnRecord { last_at, last_task, counts })
        };
        Ok(rows.map(record).collect())
    }
}

impl TriggerEntry<'_> {
    /// What is on record of it.
    pub fn recorded(&self, records: &BTreeMap<TriggerId, OnRecord>) -> Option<OnRecord> {
        records.get(&self.on_record()?.id()).copied()
    }
}

impl Control<'_> {
    /// All triggers of all workspaces, and what came of each.
    pub fn triggers(&self) -> Result<Vec<TriggerOnRecord>, Error> {
        let found = self.system.all_triggers()?;
        let records =
            self.commands.reader().map(|reader| reader.trigger_records()).transpose()?.unwrap_or_default();
        let entries = found.entries().map(|entry| TriggerOnRecord {
            full_name: entry.full_name(),
            state: entry.state(),
            start: entry.trigger().start.word(),
            record: entry.recorded(&records),
        });
        Ok(entries.collect())
    }
}
