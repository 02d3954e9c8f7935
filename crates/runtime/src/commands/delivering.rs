//! What is on record about deliveries, and what goes there.

use longhaul_core::session::Command;
use longhaul_events::{
    Channel, Content, DeliveryAct, DeliveryFact, Epoch, NodeId, Seq, SessionEvent, SessionId, Timestamp,
    Verdict,
};
use serde_json::Value;

use super::Commands;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// An act as the log has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordedAct {
    pub(crate) act: DeliveryAct,
    pub(crate) key: String,
    pub(crate) what: Value,
    /// What came of it; `None` if nobody knows.
    pub(crate) receipt: Option<Value>,
    /// Somebody had to look whether it was done.
    pub(crate) found: bool,
    pub(crate) intended_at: Timestamp,
}

impl Commands {
    /// Puts on record that an act is about to be done, or was. Refused for whoever is not the driver any more.
    pub(crate) fn record_delivery(
        &self,
        id: SessionId,
        epoch: Epoch,
        work: NodeId,
        fact: &DeliveryFact,
    ) -> Result<Timestamp, Error> {
        let ((), stored) = self.decide_and_keep(id, &Contents::default(), |session| {
            let command = Command::Deliver { epoch, work, fact: fact.clone() };
            Ok(Decided::Events(session.decide(command)?, ()))
        })?;
        Ok(stored.at)
    }

    /// All acts of a session, in the order in which they were first intended. What was intended again after a receipt
    /// is open again.
    pub(crate) fn deliveries(&self, id: SessionId) -> Result<Vec<RecordedAct>, Error> {
        let mut acts: Vec<RecordedAct> = Vec::new();
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                let SessionEvent::Delivery { fact, .. } = event else { continue };
                match fact {
                    DeliveryFact::Intended { act, key, what } => {
                        acts.retain(|known| known.key != key);
                        let (what, intended_at) = (self.value_of(&what)?, decision.at);
                        acts.push(RecordedAct { act, key, what, receipt: None, found: false, intended_at });
                    }
                    DeliveryFact::Received { key, receipt, found, .. } => {
                        let receipt = self.value_of(&receipt)?;
                        if let Some(known) = acts.iter_mut().find(|known| known.key == key) {
                            (known.receipt, known.found) = (Some(receipt), found);
                        }
                    }
                }
            }
            Ok(None::<()>)
        })?;
        Ok(acts)
    }

    /// The person who opened a gate after a var was last set. Whoever went back since has to be asked again.
    pub(crate) fn opened_since(&self, id: SessionId, var: &str) -> Result<Option<String>, Error> {
        let mut by = None;
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if matches!(event, SessionEvent::Forked { .. }) {
                    by = None;
                }
                if let SessionEvent::VarsChanged { set, unset } = &event
                    && (set.contains_key(var) || unset.iter().any(|name| name == var))
                {
                    by = None;
                }
                if let SessionEvent::GateAnswered { verdict: Verdict::Approved, by: who, channel, .. } = event
                    && channel >= Channel::Terminal
                {
                    by = Some(who);
                }
            }
            Ok(None::<()>)
        })?;
        Ok(by)
    }
}

/// A fact about an act, from its values.
pub(crate) fn intended(act: DeliveryAct, key: &str, what: &Value) -> DeliveryFact {
    DeliveryFact::Intended { act, key: key.to_owned(), what: Content::Inline(what.clone()) }
}

pub(crate) fn received(act: DeliveryAct, key: &str, receipt: &Value, found: Found) -> DeliveryFact {
    let (key, receipt) = (key.to_owned(), Content::Inline(receipt.clone()));
    DeliveryFact::Received { act, key, receipt, found: found == Found::Before }
}

/// Whether an act was done just now, or seen to have been done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Before,
    Now,
}
