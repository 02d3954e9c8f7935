//! The session aggregate: one durable run, handed out step by step.
//!
//! | state | command | facts |
//! |---|---|---|
//! | none | open | `Opened` |
//! | open, no lease or an expired one | take driver | (`DriverExpired`), `DriverTaken` |
//! | driven | renew, release, notice expiry | `DriverRenewed`, `DriverReleased`, `DriverExpired` |
//! | no step out | hand out | `StepHandedOut` |
//! | step out | finish | `StepFinished`, then the way on |
//! | step out | refuse | `AttemptRefused`, after too many `Parked` |
//! | step out | finish or refuse by a reissued handle | `Forked`, then as above |
//! | work due, driven | start work, finish work | `WorkStarted`; `WorkFinished`, then the way on |
//! | gate open | answer, time out | `GateAnswered`, then the way on; `GateExpired`, `Closed` |
//! | open | reissue an older node, checkpoint, report | `HandleReissued`, `Checkpointed`, `Reported` |
//! | open | something of an agent that we drive | `Agent` |
//! | not cancelled | rewind | `Rewound`, `Forked`, `StepHandedOut` |
//! | completed | continue | `Continued`, `StepHandedOut` |
//! | open | set budget | (`Unparked`), `Agent` |
//! | parked, waits for what comes by itself | wake, once it is due | `Unparked`, `Agent` |
//! | any | settle | `Agent` |
//! | open | request stop | `StopRequested`; nobody takes the lease after it |
//! | step out, or parked at one | steer | (`Unparked`), `Agent` |
//! | work due, driven | deliver | `Delivery`; after an outward one no rewind leads behind it |
//! | open | close | `Closed` |
//! | any | make, keep or remove a checkout | `CheckoutMade`, `Snapshotted`, `CheckoutRemoved` |
//!
//! The way on ([`Onward`]) is chosen by [`crate::walk`]: facts about the choice, then one of `StepHandedOut`,
//! `WorkBegan`, `GateOpened`, `Parked`, `Closed`.
//!
//! The state stays small however long the session runs: what only history can tell is read from the log.

mod command;
mod decide;
mod outward;
mod spent;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use longhaul_events::{
    AgentAct, Caps, Channel, CloseOutcome, Content, Digest, Driver, Epoch, GateKind, NodeId, Nonce,
    OwnCheckout, Place, Reason, Restored, Seq, SessionEvent, SessionId, SessionKey, StepId, Taint, TaskId,
    Timestamp, Urgency, Waits, WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use command::{
    Actor, Arrival, Command, FinishStep, GateAnswer, KeptAs, KeptSnapshot, NewBudget, NewGate, NewStep,
    Onward, OpenSession, PinWorkflow, RefuseAttempt, Rejection, RewindTo, channel_word,
};
pub use decide::ATTEMPTS_LEFT;
pub use outward::Outward;
pub use spent::Spent;

use crate::handle::Handle;

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 9;

/// How many unused reissued handles a session remembers; the oldest is forgotten first.
const REISSUED_KEPT: usize = 16;

/// How often a session may go back by older handles before a person has to rewind it. Without an end to it, the
/// bounds of a workflow would bind nobody.
const MOST_RETURNS: u32 = 20;

/// What the events of a session amount to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    pub id: SessionId,
    key: SessionKey,
    pub workspace: Option<WorkspaceId>,
    pub parent: Option<SessionId>,
    /// What it is part of; none from before there were tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// How many events are folded in; the next one has the number after it.
    pub seq: Seq,
    pub lease: Option<Lease>,
    /// The newest epoch ever given out.
    pub epoch: Epoch,
    pub workflow: Option<Pinned>,
    #[serde(default, skip_serializing_if = "Place::is_plain")]
    pub place: Place,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vars: BTreeMap<String, Content>,
    pub at: At,
    reissued: Vec<Offer>,
    /// How often it went back since a person last rewound it.
    #[serde(default, skip_serializing_if = "is_zero")]
    returns: u32,
    pub steps_finished: u64,
    /// The agent of ours that does its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Taint::is_clean")]
    pub taint: Taint,
    /// What the agents that we drive have used so far.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// What they may use in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caps: Option<Caps>,
    /// How often it was continued after it was completed.
    pub phase: u32,
    /// Somebody wants it ended. Nobody drives it from then on but to end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopWish>,
    pub closed: Option<CloseOutcome>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workplace: Option<Workplace>,
    /// The newest work in which something was done, or may have been, that others see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outward: Option<Outward>,
}

/// Who wants a session ended, and how soon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopWish {
    /// Whoever said so first.
    pub by: String,
    pub urgency: Urgency,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The files that a session works on, when they are its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workplace {
    pub checkout: OwnCheckout,
    /// It was removed, and can be made again from its snapshots.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// The newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The last node whose beginning is on record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins: Option<NodeId>,
    /// A snapshot that has to be back in its place before anybody goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
}

/// The workflow that a session follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    pub id: String,
    pub hash: Digest,
    pub workflow: Content,
}

/// The right to write to a session, until it expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    pub driver: Driver,
    pub epoch: Epoch,
    pub expires_at: Timestamp,
}

/// What a session waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    Nothing,
    /// An agent.
    Step(Tip),
    /// The engine.
    Work(Work),
    /// An authority.
    Gate(OpenGate),
    /// A person who looks after it.
    Parked(Park),
}

/// The step that is out and waits to be finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tip {
    pub node: NodeId,
    pub nonce: Nonce,
    pub step: StepId,
    /// How many answers were refused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refusals: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    pub work: NodeId,
    pub step: StepId,
    /// The driver that started it, if one has.
    pub started: Option<Epoch>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenGate {
    pub gate: NodeId,
    pub step: StepId,
    pub kind: GateKind,
    pub accepts: Channel,
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Park {
    pub node: NodeId,
    pub step: StepId,
    /// The step that was out, which can be taken up again as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<NodeId>,
    /// The first reason: its code, and in words.
    pub code: String,
    pub because: String,
    /// What comes by itself, after which it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
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
    /// Do a step of the engine's own, under a driver lease; the node makes it idempotent.
    DoWork { work: NodeId, step: StepId },
    /// Look at the gate again at this moment.
    NoticeGate { gate: NodeId, at: Timestamp },
}

impl Tip {
    fn new(node: NodeId, nonce: Nonce, step: &StepId) -> Self {
        Self { node, nonce, step: step.clone(), refusals: 0 }
    }
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
        let SessionEvent::Opened { key, goal: _, workspace, parent, task } = first else { return None };
        Some(Self {
            id,
            key: *key,
            workspace: *workspace,
            parent: *parent,
            task: *task,
            seq: Seq(1),
            lease: None,
            epoch: Epoch(0),
            workflow: None,
            place: Place::default(),
            vars: BTreeMap::new(),
            at: At::Nothing,
            reissued: Vec::new(),
            returns: 0,
            steps_finished: 0,
            agent: None,
            taint: Taint::Clean,
            spent: Spent::default(),
            caps: None,
            phase: 0,
            stop: None,
            closed: None,
            workplace: None,
            outward: None,
        })
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &SessionEvent) {
        self.seq = self.seq.plus(1);
        match event {
            SessionEvent::DriverTaken { epoch, driver, expires_at } => {
                self.epoch = *epoch;
                self.lease = Some(Lease { driver: driver.clone(), epoch: *epoch, expires_at: *expires_at });
            }
            SessionEvent::DriverRenewed { epoch: _, expires_at } => self.renew(*expires_at),
            SessionEvent::DriverExpired { .. } | SessionEvent::DriverReleased { .. } => self.lease = None,
            SessionEvent::StepHandedOut { node, after: _, step, prompt: _, nonce, place } => {
                self.stand(place, At::Step(Tip::new(*node, *nonce, step)));
            }
            SessionEvent::StepFinished { .. } => {
                self.at = At::Nothing;
                self.steps_finished += 1;
            }
            SessionEvent::AttemptRefused { retry, .. } => self.refuse_tip(*retry),
            SessionEvent::HandleReissued { node, nonce } => {
                self.remember(Offer { node: *node, nonce: *nonce });
            }
            SessionEvent::Forked { from, nonce, left: _, restored } => {
                self.fork(*from, *nonce, restored.as_deref());
            }
            SessionEvent::WorkflowPinned { id, hash, workflow, .. } => {
                self.workflow = Some(Pinned { id: id.clone(), hash: *hash, workflow: workflow.clone() });
            }
            SessionEvent::VarsChanged { set, unset } => self.change_vars(set, unset),
            SessionEvent::WorkBegan { work, after: _, step, place } => {
                self.stand(place, At::Work(Work { work: *work, step: step.clone(), started: None }));
            }
            SessionEvent::WorkStarted { work: _, epoch, what: _ } => self.start_work(*epoch),
            SessionEvent::GateOpened { gate, step, kind, accepts, until, place, .. } => {
                let (gate, step, kind) = (*gate, step.clone(), *kind);
                let open = OpenGate { gate, step, kind, accepts: *accepts, until: *until };
                self.stand(place, At::Gate(open));
            }
            SessionEvent::WorkFinished { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::GateExpired { .. } => self.at = At::Nothing,
            SessionEvent::Parked { node, after, step, reasons, place, waits } => {
                let park = Park { waits: waits.clone(), ..self.park_at(*node, *after, step, reasons) };
                self.stand(place, At::Parked(park));
            }
            SessionEvent::Unparked { node, nonce, step, by: _ } => {
                self.at = At::Step(Tip::new(*node, *nonce, step));
            }
            SessionEvent::Continued { phase, text: _ } => {
                self.phase = *phase;
                self.closed = None;
            }
            // A second opening cannot be decided; were it in a log, it would change nothing.
            SessionEvent::Opened { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. } => {}
            SessionEvent::Agent { node: _, act } => self.take_act(act),
            SessionEvent::Rewound { restore, .. } => self.go_back(restore.as_deref()),
            SessionEvent::StopRequested { by, urgency, reason } => {
                self.wish_stop(by, *urgency, reason.as_ref());
            }
            SessionEvent::Closed { outcome } => self.close_with(outcome),
            SessionEvent::CheckoutMade { checkout } => self.settle_in(checkout),
            SessionEvent::Snapshotted { snapshot, begins, .. } => self.remember_snapshot(snapshot, *begins),
            SessionEvent::CheckoutRemoved { .. } => self.move_out(),
            SessionEvent::Delivery { work, fact, .. } => self.go_outward(*work, fact),
        }
    }

    fn change_vars(&mut self, set: &BTreeMap<String, Content>, unset: &[String]) {
        self.vars.extend(set.iter().map(|(name, content)| (name.clone(), content.clone())));
        unset.iter().for_each(|name| drop(self.vars.remove(name)));
    }

    fn take_act(&mut self, act: &AgentAct) {
        self.spent.add(act);
        match act {
            AgentAct::Assigned { agent, taint, .. } => {
                self.agent = Some(agent.clone());
                // Whatever came from outside stays in what was said and done.
                self.taint = self.taint.max(*taint);
            }
            AgentAct::Budgeted { caps, .. } => self.caps = Some(*caps),
            AgentAct::MadeReady { .. }
            | AgentAct::Answered { .. }
            | AgentAct::Failed { .. }
            | AgentAct::Requested { .. }
            | AgentAct::Billed { .. }
            | AgentAct::Observed { .. }
            | AgentAct::CallStarted { .. }
            | AgentAct::CallFinished { .. }
            | AgentAct::Nudged { .. }
            | AgentAct::Compacted { .. }
            | AgentAct::Steered { .. }
            | AgentAct::Woken => {}
        }
    }

    /// A step that was out when it was parked is still there to be taken up.
    fn park_at(&self, node: NodeId, after: Option<NodeId>, step: &StepId, reasons: &[Reason]) -> Park {
        let out = self.tip().map(|tip| tip.node).filter(|out| after == Some(*out));
        let (code, because) =
            reasons.first().map(|first| (first.code.clone(), first.message.clone())).unwrap_or_default();
        Park { node, step: step.clone(), out, code, because, waits: None }
    }

    fn start_work(&mut self, epoch: Epoch) {
        if let At::Work(work) = &mut self.at {
            work.started = Some(epoch);
        }
    }

    fn renew(&mut self, expires_at: Timestamp) {
        if let Some(lease) = &mut self.lease {
            lease.expires_at = expires_at;
        }
    }

    fn remember_snapshot(&mut self, snapshot: &str, begins: Option<NodeId>) {
        if let Some(workplace) = &mut self.workplace {
            workplace.snapshot = Some(snapshot.to_owned());
            workplace.begins = begins.or(workplace.begins);
            // Whoever begins has what was wanted, or what a person chose instead.
            if begins.is_some() {
                workplace.due = None;
            }
        }
    }

    fn go_back(&mut self, snapshot: Option<&str>) {
        self.returns = 0;
        if let (Some(workplace), Some(snapshot)) = (&mut self.workplace, snapshot) {
            workplace.due = Some(snapshot.to_owned());
        }
    }

    fn move_out(&mut self) {
        if let Some(workplace) = &mut self.workplace {
            workplace.is_gone = true;
        }
    }

    fn settle_in(&mut self, checkout: &OwnCheckout) {
        let (checkout, before) = (checkout.clone(), self.workplace.take());
        self.workplace = Some(match before {
            Some(before) => Workplace { checkout, is_gone: false, ..before },
            None => Workplace { checkout, is_gone: false, snapshot: None, begins: None, due: None },
        });
    }

    fn close_with(&mut self, outcome: &CloseOutcome) {
        self.lease = None;
        self.at = At::Nothing;
        self.stop = None;
        self.closed = Some(outcome.clone());
    }

    fn wish_stop(&mut self, by: &str, urgency: Urgency, reason: Option<&String>) {
        let first = self.stop.take().unwrap_or_else(|| StopWish {
            by: by.to_owned(),
            urgency,
            reason: reason.cloned(),
        });
        self.stop = Some(StopWish { urgency: first.urgency.max(urgency), ..first });
    }

    fn refuse_tip(&mut self, retry: Nonce) {
        if let At::Step(tip) = &mut self.at {
            tip.nonce = retry;
            tip.refusals += 1;
        }
    }

    fn stand(&mut self, place: &Place, at: At) {
        self.place.clone_from(place);
        // Where a person decides, nobody gets past with a handle from before.
        if matches!(at, At::Gate(_) | At::Parked(_)) {
            self.reissued.clear();
        }
        self.at = at;
    }

    fn fork(&mut self, from: NodeId, nonce: Nonce, restored: Option<&Restored>) {
        self.reissued.retain(|offer| offer.nonce != nonce);
        self.returns += 1;
        self.closed = None;
        self.at = At::Nothing;
        if let Some(Restored { step, place, vars }) = restored {
            self.vars.clone_from(vars);
            self.stand(place, At::Step(Tip::new(from, nonce, step)));
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
        let mut wanted: Vec<Effect> = self.lease.iter().map(expiry).collect();
        match &self.at {
            At::Work(work) => wanted.push(Effect::DoWork { work: work.work, step: work.step.clone() }),
            At::Gate(gate) => wanted.push(Effect::NoticeGate { gate: gate.gate, at: gate.until }),
            At::Nothing | At::Step(_) | At::Parked(_) => {}
        }
        wanted
    }

    /// The step that is out.
    pub fn tip(&self) -> Option<&Tip> {
        match &self.at {
            At::Step(tip) => Some(tip),
            At::Nothing | At::Work(_) | At::Gate(_) | At::Parked(_) => None,
        }
    }

    pub fn working(&self) -> Option<&Work> {
        match &self.at {
            At::Work(work) => Some(work),
            At::Nothing | At::Step(_) | At::Gate(_) | At::Parked(_) => None,
        }
    }

    pub fn gate(&self) -> Option<&OpenGate> {
        match &self.at {
            At::Gate(gate) => Some(gate),
            At::Nothing | At::Step(_) | At::Work(_) | At::Parked(_) => None,
        }
    }

    /// The step that the session stands at.
    pub fn step(&self) -> Option<&StepId> {
        match &self.at {
            At::Nothing => None,
            At::Step(tip) => Some(&tip.step),
            At::Work(work) => Some(&work.step),
            At::Gate(gate) => Some(&gate.step),
            At::Parked(park) => Some(&park.step),
        }
    }

    /// The node that the session stands at.
    pub fn node(&self) -> Option<NodeId> {
        match &self.at {
            At::Nothing => None,
            At::Step(tip) => Some(tip.node),
            At::Work(work) => Some(work.work),
            At::Gate(gate) => Some(gate.gate),
            At::Parked(park) => Some(park.node),
        }
    }

    /// The handle of the step that is out.
    pub fn handle(&self) -> Option<Handle> {
        self.tip().map(|tip| self.sign(tip.node, tip.nonce))
    }

    pub fn sign(&self, node: NodeId, nonce: Nonce) -> Handle {
        Handle::sign(self.id, node, nonce, &self.key)
    }

    /// A token that can take notes for a node and do nothing else.
    pub fn sign_checkpoint(&self, node: NodeId, nonce: Nonce) -> Handle {
        Handle::sign_checkpoint(self.id, node, nonce, &self.key)
    }

    /// A proof that a person was to be asked about a gate.
    pub fn sign_question(&self, gate: NodeId, nonce: Nonce) -> Handle {
        Handle::sign_question(self.id, gate, nonce, &self.key)
    }

    /// Whether we gave this handle out, ever.
    pub fn has_signed(&self, handle: &Handle) -> bool {
        handle.session == self.id && handle.is_signed_by(&self.key)
    }

    pub fn has_signed_checkpoint(&self, handle: &Handle) -> bool {
        handle.session == self.id && handle.is_checkpoint_signed_by(&self.key)
    }

    pub fn has_signed_question(&self, handle: &Handle) -> bool {
        handle.session == self.id && handle.is_question_signed_by(&self.key)
    }

    /// A handle that was given out for an older node and not used yet, the newest if there are several.
    pub fn unused_reissue(&self, node: NodeId) -> Option<Handle> {
        let offer = self.reissued.iter().rfind(|offer| offer.node == node)?;
        Some(self.sign(node, offer.nonce))
    }

    /// Whether finishing by this handle would be new. If not, only the log knows what became of it.
    pub fn is_live(&self, node: NodeId, nonce: Nonce) -> bool {
        self.is_tip(node, nonce) || self.reissued.contains(&Offer { node, nonce })
    }

    pub fn is_tip(&self, node: NodeId, nonce: Nonce) -> bool {
        self.tip().is_some_and(|tip| tip.node == node && tip.nonce == nonce)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
