//! A trigger in a list.

use longhaul_core::intake::History;
use longhaul_events::{Timestamp, TriggerEvent, TriggerId};
use serde::{Deserialize, Serialize};

use crate::log::Decision;

/// What the log says of a trigger. What it waits for is in its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerRow {
    pub history: History,
    pub first_at: Timestamp,
    pub updated_at: Timestamp,
    pub damage: Option<String>,
}

impl TriggerRow {
    pub(super) fn new(id: TriggerId, at: Timestamp) -> Self {
        Self { history: History::new(id), first_at: at, updated_at: at, damage: None }
    }

    pub(super) fn take(&mut self, decision: &Decision) -> Result<(), String> {
        let events: Vec<TriggerEvent> = decision.events().map_err(|error| error.to_string())?;
        events.iter().for_each(|event| self.history.apply(decision.at, event));
        self.updated_at = decision.at;
        Ok(())
    }
}
