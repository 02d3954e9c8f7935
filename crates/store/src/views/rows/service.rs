//! A daemon in a list.

use longhaul_core::service::Service;
use longhaul_events::{DaemonEvent, DaemonId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::log::Decision;

/// What the log says of a daemon. Whether its process lives is seen elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceRow {
    pub service: Service,
    pub updated_at: Timestamp,
    pub damage: Option<String>,
}

impl ServiceRow {
    pub(super) fn new(id: DaemonId, at: Timestamp) -> Self {
        Self { service: Service::new(id), updated_at: at, damage: None }
    }

    pub(super) fn take(&mut self, decision: &Decision) -> Result<(), String> {
        let events: Vec<DaemonEvent> = decision.events().map_err(|error| error.to_string())?;
        events.iter().for_each(|event| self.service.apply(event));
        self.updated_at = decision.at;
        Ok(())
    }
}
