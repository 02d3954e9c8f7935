//! What others have seen of a session, behind which it is not taken back.

use longhaul_events::{DeliveryFact, NodeId, StepId};
use serde::{Deserialize, Serialize};

use super::{Rejection, Session};

/// Where a session cannot be taken back behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outward {
    pub work: NodeId,
    pub step: StepId,
}

impl Session {
    /// From the intent on: whether it was done may never be known.
    pub(super) fn go_outward(&mut self, work: NodeId, fact: &DeliveryFact) {
        let Some(step) = self.working().map(|work| work.step.clone()) else { return };
        if fact.act().is_outward() {
            self.outward = Some(Outward { work, step });
            self.reissued.clear();
        }
    }

    /// What others have seen cannot be taken back. The step that delivers may be taken up again: it does nothing twice.
    pub(super) fn refuse_if_delivered(&self, node: NodeId) -> Result<(), Rejection> {
        match &self.outward {
            Some(outward) if node < outward.work => {
                Err(Rejection::PastDelivery { step: outward.step.clone() })
            }
            Some(_) | None => Ok(()),
        }
    }
}
