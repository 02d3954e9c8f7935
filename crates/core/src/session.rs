//! The session aggregate: one durable run, handed out step by step.
//!
//! | state | command | facts |
//! |---|---|---|
//! | none | open | `Opened` |
//! | open, no lease or an expired one | take driver | (`DriverExpired`), `DriverTaken` |
//! | driven | renew, release, notice expiry | `DriverRenewed`, `DriverReleased`, `DriverExpired` |
//! | no step out | hand out | `StepHandedOut` |
//! | step out | finish | `StepFinished`, then `StepHandedOut` or `Closed` |
//! | step out | finish by a reissued handle | `Forked`, `StepFinished`, then `StepHandedOut` or `Closed` |
//! | open | reissue an older node | `HandleReissued` |
//! | open | close | `Closed` |
//!
//! The state stays small however long the session runs: what only history can tell is read from the log.

mod command;
mod decide;
#[cfg(test)]
mod tests;

use longhaul_events::{
    CloseOutcome, Driver, Epoch, NodeId, Nonce, Seq, SessionEvent, SessionId, SessionKey, StepId, Timestamp,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use command::{Actor, Command, FinishStep, NewStep, OpenSession, Rejection, Then};

use crate::handle::Handle;

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 1;

/// How many unused reissued handles a session remembers; the oldest is forgotten first.
const REISSUED_KEPT: usize = 16;

/// What the events of a session amount to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    pub id: SessionId,
    key: SessionKey,
    pub workspace: Option<WorkspaceId>,
    pub parent: Option<SessionId>,
    /// How many events are folded in; the next one has the number after it.
    pub seq: Seq,
    pub lease: Option<Lease>,
    /// The newest epoch ever given out.
    pub epoch: Epoch,
    pub tip: Option<Tip>,
    reissued: Vec<Offer>,
    pub steps_finished: u64,
    pub closed: Option<CloseOutcome>,
}

/// The right to write to a session, until it expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    pub driver: Driver,
    pub epoch: Epoch,
    pub expires_at: Timestamp,
}

/// The step that is out and waits to be finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tip {
    pub node: NodeId,
    pub nonce: Nonce,
    pub step: StepId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Offer {
    node: NodeId,
    nonce: Nonce,
}

/// What the world should be doing for a session. Derived from state, so it survives any crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Look at the lease again at this moment; the epoch makes the act idempotent.
    NoticeExpiry { epoch: Epoch, at: Timestamp },
}

impl Session {
    /// Folds a whole history; `None` unless it begins as a session does.
    pub fn fold<'a>(id: SessionId, events: impl IntoIterator<Item = &'a SessionEvent>) -> Option<Self> {
        let mut events = events.into_iter();
        let mut session = Self::begin(id, events.next()?)?;
        events.for_each(|event| session.apply(event));
        Some(session)
    }

    /// The state after a first event; `None` if that is not an opening.
    pub fn begin(id: SessionId, first: &SessionEvent) -> Option<Self> {
        let SessionEvent::Opened { key, goal: _, workspace, parent } = first else { return None };
        Some(Self {
            id,
            key: *key,
            workspace: *workspace,
            parent: *parent,
            seq: Seq(1),
            lease: None,
            epoch: Epoch(0),
            tip: None,
            reissued: Vec::new(),
            steps_finished: 0,
            closed: None,
        })
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &SessionEvent) {
        self.seq = self.seq.plus(1);
        match event {
            // A second opening cannot be decided; were it in a log, it would change nothing.
            SessionEvent::Opened { .. } => {}
            SessionEvent::DriverTaken { epoch, driver, expires_at } => {
                self.epoch = *epoch;
                self.lease = Some(Lease { driver: driver.clone(), epoch: *epoch, expires_at: *expires_at });
            }
            SessionEvent::DriverRenewed { epoch: _, expires_at } => {
                if let Some(lease) = &mut self.lease {
                    lease.expires_at = *expires_at;
                }
            }
            SessionEvent::DriverExpired { .. } | SessionEvent::DriverReleased { .. } => self.lease = None,
            SessionEvent::StepHandedOut { node, after: _, step, prompt: _, nonce } => {
                self.tip = Some(Tip { node: *node, nonce: *nonce, step: step.clone() });
            }
            SessionEvent::StepFinished { .. } => {
                self.tip = None;
                self.steps_finished += 1;
            }
            SessionEvent::HandleReissued { node, nonce } => {
                self.remember(Offer { node: *node, nonce: *nonce });
            }
            SessionEvent::Forked { from: _, nonce, left: _ } => {
                self.tip = None;
                self.reissued.retain(|offer| offer.nonce != *nonce);
            }
            SessionEvent::Closed { outcome } => {
                self.lease = None;
                self.closed = Some(outcome.clone());
            }
        }
    }

    fn remember(&mut self, offer: Offer) {
        if self.reissued.len() == REISSUED_KEPT {
            self.reissued.remove(0);
        }
        self.reissued.push(offer);
    }

    /// What the world should be doing now.
    pub fn wanted(&self) -> Vec<Effect> {
        let expiry = |lease: &Lease| Effect::NoticeExpiry { epoch: lease.epoch, at: lease.expires_at };
        self.lease.iter().map(expiry).collect()
    }

    /// The handle of the step that is out.
    pub fn handle(&self) -> Option<Handle> {
        self.tip.as_ref().map(|tip| self.sign(tip.node, tip.nonce))
    }

    pub fn sign(&self, node: NodeId, nonce: Nonce) -> Handle {
        Handle::sign(self.id, node, nonce, &self.key)
    }

    /// Whether we gave this handle out, ever.
    pub fn has_signed(&self, handle: &Handle) -> bool {
        handle.session == self.id && handle.is_signed_by(&self.key)
    }

    /// Whether finishing by this handle would be new. If not, only the log knows what became of it.
    pub fn is_live(&self, node: NodeId, nonce: Nonce) -> bool {
        self.is_tip(node, nonce) || self.reissued.contains(&Offer { node, nonce })
    }

    fn is_tip(&self, node: NodeId, nonce: Nonce) -> bool {
        self.tip.as_ref().is_some_and(|tip| tip.node == node && tip.nonce == nonce)
    }
}
