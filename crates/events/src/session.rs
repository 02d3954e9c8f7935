//! What can happen to a session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::AgentAct;
use crate::checkout::OwnCheckout;
use crate::content::{BlobRef, Content, Digest, FreeText, Kept, Slot};
use crate::delivery::DeliveryFact;
use crate::ids::{Epoch, NodeId, Nonce, SessionId, SessionKey, StepId, TaskId, WorkspaceId};
use crate::time::Timestamp;
use crate::walk::{Checkout, Considered, GateKind, Place, Reason, Restored, Verdict};
use crate::workspace::Channel;

/// A fact about one session. Append-only: a changed shape is a new variant and an upcaster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionEvent {
    /// Always the first event, and only the first.
    Opened {
        key: SessionKey,
        goal: Content,
        workspace: Option<WorkspaceId>,
        parent: Option<SessionId>,
        /// What it is part of. Every session of a task names it; those from before there were tasks name none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
    },
    DriverTaken {
        epoch: Epoch,
        driver: Driver,
        expires_at: Timestamp,
    },
    DriverRenewed {
        epoch: Epoch,
        expires_at: Timestamp,
    },
    /// Somebody looked after `expired_at` and found that the driver had not renewed.
    DriverExpired {
        epoch: Epoch,
        expired_at: Timestamp,
    },
    DriverReleased {
        epoch: Epoch,
    },
    StepHandedOut {
        node: NodeId,
        after: Option<NodeId>,
        step: StepId,
        prompt: Content,
        nonce: Nonce,
        #[serde(default, skip_serializing_if = "Place::is_plain")]
        place: Place,
    },
    StepFinished {
        node: NodeId,
        nonce: Nonce,
        payload: Content,
        /// Of the canonical form as it was sent, before secrets were taken out.
        payload_hash: Digest,
        answer: Content,
        epoch: Option<Epoch>,
    },
    /// A fresh handle was given out for a node that is no longer the newest.
    HandleReissued {
        node: NodeId,
        nonce: Nonce,
    },
    /// A reissued handle was used: `left` and what led to it are no longer the way forward.
    Forked {
        from: NodeId,
        nonce: Nonce,
        left: Option<NodeId>,
        /// What was in force when `from` was handed out, and is again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restored: Option<Box<Restored>>,
    },
    /// Somebody wants the session ended, with all that runs for it.
    StopRequested {
        by: String,
        urgency: Urgency,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Closed {
        outcome: CloseOutcome,
    },
    /// The workflow that the session follows, whole: later edits of its file do not touch it.
    WorkflowPinned {
        id: String,
        version: String,
        /// SHA-256 of the canonical form.
        hash: Digest,
        workflow: Content,
        /// Where the session was started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checkout: Option<Checkout>,
    },
    VarsChanged {
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        set: BTreeMap<String, Content>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unset: Vec<String>,
    },
    /// What was looked at to find the way forward, and why it was taken or left.
    WayChosen {
        considered: Vec<Considered>,
        /// How many more were looked at than are kept.
        #[serde(default, skip_serializing_if = "is_zero")]
        left_out: u64,
    },
    /// A policy was asked on the way. What it said is also the value of the var that the step sets.
    Decided {
        step: StepId,
        policy: String,
        /// Everything that it looked at: input → value, and the settings under which it was asked.
        given: Content,
        decision: String,
        because: String,
    },
    /// A loop came to its bound; what it goes on with is the author's choice.
    LoopExhausted {
        step: StepId,
        iterations: u64,
        because: String,
    },
    /// An answer that did not do. The step stays out, under a fresh nonce.
    AttemptRefused {
        node: NodeId,
        nonce: Nonce,
        payload: Content,
        payload_hash: Digest,
        reasons: Vec<Reason>,
        retry: Nonce,
        epoch: Option<Epoch>,
    },
    /// A step of the engine's own is due: a command to run, an input to gather.
    WorkBegan {
        work: NodeId,
        after: Option<NodeId>,
        step: StepId,
        #[serde(default, skip_serializing_if = "Place::is_plain")]
        place: Place,
    },
    /// A runner is about to act. From here on the outcome is unknown until it is recorded.
    WorkStarted {
        work: NodeId,
        epoch: Epoch,
        /// What exactly it does, after templates.
        what: Content,
    },
    WorkFinished {
        work: NodeId,
        epoch: Epoch,
        result: Content,
    },
    GateOpened {
        gate: NodeId,
        after: Option<NodeId>,
        step: StepId,
        kind: GateKind,
        question: Content,
        accepts: Channel,
        until: Timestamp,
        #[serde(default, skip_serializing_if = "Place::is_plain")]
        place: Place,
    },
    GateAnswered {
        gate: NodeId,
        verdict: Verdict,
        by: String,
        channel: Channel,
        words: Content,
    },
    /// Nobody answered in time. Said by whoever looked first, as of when it fell due.
    GateExpired {
        gate: NodeId,
        until: Timestamp,
    },
    /// Nothing goes on by itself from here: a person must look.
    Parked {
        node: NodeId,
        after: Option<NodeId>,
        step: StepId,
        reasons: Vec<Reason>,
        #[serde(default, skip_serializing_if = "Place::is_plain")]
        place: Place,
        /// What is waited for that comes by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits: Option<Waits>,
    },
    /// What was parked goes on where it stood, with all that was said and done there.
    Unparked {
        node: NodeId,
        nonce: Nonce,
        step: StepId,
        by: String,
    },
    /// Notes from the middle of a step, so that they outlive the agent's context.
    Checkpointed {
        node: NodeId,
        notes: Content,
    },
    /// Something that an agent wants known beside its answer. Decides nothing.
    Reported {
        node: Option<NodeId>,
        kind: ReportKind,
        report: Content,
    },
    /// Something happened between the session and an agent that we drive.
    Agent {
        /// The step that it was about.
        node: Option<NodeId>,
        act: AgentAct,
    },
    /// Somebody sent the session back on purpose; the fork that follows says where to.
    Rewound {
        to: NodeId,
        reason: Content,
        by: String,
        /// The snapshot that has to be back in the session's own checkout before anybody goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restore: Option<String>,
    },
    /// A completed session was asked for more.
    Continued {
        phase: u32,
        text: Content,
    },
    /// The session has files of its own to work on, for the first time or again.
    CheckoutMade {
        checkout: OwnCheckout,
    },
    /// All files of the checkout were kept.
    Snapshotted {
        /// Where the session stood.
        node: Option<NodeId>,
        snapshot: String,
        tree: String,
        head: Option<String>,
        because: String,
        /// What could not be kept, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        /// Where the session stood, if that is what it began with there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        begins: Option<NodeId>,
    },
    /// The checkout is gone. All that was in it is in the snapshot.
    CheckoutRemoved {
        name: String,
        snapshot: Option<String>,
        by: String,
        because: String,
    },
    /// Something that others see is about to be done for the session, or was.
    Delivery {
        work: NodeId,
        epoch: Epoch,
        fact: DeliveryFact,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Something that comes by itself: a limit of a provider that is new again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// Whose limit it is.
    pub on: String,
    /// When it is there.
    pub until: Timestamp,
    /// When this session looks. Not all look at once.
    pub wake_at: Timestamp,
}

/// Who drives a session: a process that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    pub host: String,
    pub process: u32,
    /// Start time of the process in clock ticks since boot, so that a reused number is not taken for it. None
    /// where the system does not tell.
    pub started: Option<u64>,
}

/// How soon a session has to end. The later one is the more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// What is under way may end by itself, for a while.
    AfterGrace,
    Now,
}

/// What an agent's report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportKind {
    /// Something that is wrong with what it works on.
    Issue,
    /// Something that is wrong with the workflow itself.
    WorkflowBug,
    /// Something that others who work here should know.
    Fact,
    /// A question that it cannot settle.
    Question,
    /// A host that it wanted to reach and that was not let through. Said by us, not by the agent.
    HostRefused,
    /// A value under a name, for whoever works on it later.
    Artifact,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum CloseOutcome {
    Completed,
    Cancelled {
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Failed {
        reason: String,
    },
}

impl SessionEvent {
    /// The blobs without which this event is not whole.
    pub fn blobs(&self) -> Vec<BlobRef> {
        // A copy is cheap beside a second list of fields to keep: what is large lies in blobs by now.
        self.clone().contents().iter().filter_map(|slot| slot.content.blob()).collect()
    }

    /// Everything that it carries by value or by digest.
    pub fn contents(&mut self) -> Vec<Slot<'_>> {
        self.parts().slots
    }

    /// Everything in it that is free text. Secrets are taken out of this and of nothing else, so that an
    /// event stays an event whatever the secret is.
    pub fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        let Parts { slots, words } = self.parts();
        let values = slots.into_iter().filter_map(|slot| slot.content.free_text());
        values.chain(words.into_iter().map(FreeText::Words)).collect()
    }

    /// What other facts and the workflow know things by: steps, vars, the workflow.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::StepHandedOut { step, place, .. }
            | Self::WorkBegan { step, place, .. }
            | Self::GateOpened { step, place, .. }
            | Self::Parked { step, place, .. } => place.names().chain([step.0.as_str()]).collect(),
            Self::Forked { restored: Some(restored), .. } => {
                let vars = restored.vars.keys().map(String::as_str);
                restored.place.names().chain([restored.step.0.as_str()]).chain(vars).collect()
            }
            Self::WorkflowPinned { id, version, .. } => vec![id, version],
            Self::VarsChanged { set, unset } => set.keys().chain(unset).map(String::as_str).collect(),
            Self::WayChosen { considered, .. } => considered.iter().map(|one| one.step.0.as_str()).collect(),
            Self::Decided { step, policy, .. } => vec![&step.0, policy],
            Self::LoopExhausted { step, .. } | Self::Unparked { step, .. } => vec![&step.0],
            Self::Delivery { fact, .. } => vec![fact.key()],
            Self::Opened { .. }
            | Self::DriverTaken { .. }
            | Self::DriverRenewed { .. }
            | Self::DriverExpired { .. }
            | Self::DriverReleased { .. }
            | Self::StepFinished { .. }
            | Self::HandleReissued { .. }
            | Self::Forked { restored: None, .. }
            | Self::StopRequested { .. }
            | Self::Closed { .. }
            | Self::AttemptRefused { .. }
            | Self::WorkStarted { .. }
            | Self::WorkFinished { .. }
            | Self::GateAnswered { .. }
            | Self::GateExpired { .. }
            | Self::Checkpointed { .. }
            | Self::Reported { .. }
            | Self::Agent { .. }
            | Self::Rewound { .. }
            | Self::Continued { .. }
            | Self::CheckoutMade { .. }
            | Self::Snapshotted { .. }
            | Self::CheckoutRemoved { .. } => Vec::new(),
        }
    }

    fn parts(&mut self) -> Parts<'_> {
        match self {
            Self::Opened { goal, .. } => Parts::of(goal),
            Self::StepHandedOut { step, prompt, place, .. } => {
                Parts::of(prompt).at(place).words([&mut step.0])
            }
            Self::StepFinished { payload, answer, .. } => Parts::of(payload).and(answer),
            Self::AttemptRefused { payload, reasons, .. } => Parts::of(payload).reasons(reasons),
            Self::WorkflowPinned { workflow, checkout, .. } => {
                Parts::default().hot([workflow]).words(checkout.iter_mut().flat_map(Checkout::words))
            }
            Self::VarsChanged { set, .. } => Parts::default().hot(set.values_mut()),
            Self::Forked { restored, .. } => match restored.as_deref_mut() {
                Some(Restored { step: _, place, vars }) => Parts::default().hot(vars.values_mut()).at(place),
                None => Parts::default(),
            },
            Self::WorkBegan { place, .. } => Parts::default().at(place),
            Self::Parked { reasons, place, waits, .. } => {
                let on = waits.as_mut().map(|waits| &mut waits.on);
                Parts::default().at(place).reasons(reasons).words(on)
            }
            Self::WorkStarted { what: content, .. }
            | Self::WorkFinished { result: content, .. }
            | Self::Checkpointed { notes: content, .. }
            | Self::Reported { report: content, .. }
            | Self::Continued { text: content, .. } => Parts::of(content),
            Self::Rewound { reason: content, by, .. } | Self::GateAnswered { words: content, by, .. } => {
                Parts::of(content).words([by])
            }
            Self::GateOpened { question, place, .. } => Parts::of(question).at(place),
            Self::WayChosen { considered, .. } => {
                Parts::default().words(considered.iter_mut().map(|one| &mut one.because))
            }
            Self::Decided { given, because, .. } => Parts::of(given).words([because]),
            Self::LoopExhausted { because, .. } => Parts::default().words([because]),
            Self::Agent { act, .. } => agent_parts(act),
            Self::CheckoutMade { checkout } => Parts::default().words(checkout.words()),
            Self::Snapshotted { because, left_out, .. } => {
                Parts::default().words([because].into_iter().chain(left_out))
            }
            Self::CheckoutRemoved { by, because, .. } => Parts::default().words([by, because]),
            Self::Delivery { fact, .. } => Parts::of(fact.content()),
            Self::Unparked { by, .. } => Parts::default().words([by]),
            Self::DriverTaken { driver, .. } => Parts::default().words([&mut driver.host]),
            Self::StopRequested { by, reason, .. }
            | Self::Closed { outcome: CloseOutcome::Cancelled { by, reason } } => {
                Parts::default().words([by].into_iter().chain(reason))
            }
            Self::Closed { outcome: CloseOutcome::Failed { reason } } => Parts::default().words([reason]),
            Self::Closed { outcome: CloseOutcome::Completed }
            | Self::DriverRenewed { .. }
            | Self::DriverExpired { .. }
            | Self::DriverReleased { .. }
            | Self::HandleReissued { .. }
            | Self::GateExpired { .. } => Parts::default(),
        }
    }
}

fn agent_parts(act: &mut AgentAct) -> Parts<'_> {
    match act {
        AgentAct::Assigned { settings, because, .. } => Parts::of(settings).words(because),
        AgentAct::CallFinished { result: content, .. } | AgentAct::MadeReady { outcomes: content } => {
            Parts::of(content)
        }
        AgentAct::Answered { said, calls, echo, .. } => {
            let parts = echo.iter_mut().fold(Parts::of(said), Parts::and);
            calls.iter_mut().fold(parts, |parts, call| parts.and(&mut call.arguments).words(&mut call.id))
        }
        AgentAct::Compacted { recap, .. } => recap.iter_mut().fold(Parts::default(), Parts::and),
        AgentAct::Failed { message: words, .. } | AgentAct::Nudged { words, .. } => {
            Parts::default().words([words])
        }
        AgentAct::CallStarted { .. } | AgentAct::Requested { .. } | AgentAct::Woken => Parts::default(),
        AgentAct::Billed { provider, model, .. } => Parts::default().words([provider, model]),
        AgentAct::Observed { tool, title, .. } => Parts::default().words([tool, title]),
        AgentAct::Steered { words, by } => Parts::of(words).words([by]),
        AgentAct::Budgeted { by, .. } => Parts::default().words([by]),
    }
}

/// What of an event is not its shape.
#[derive(Debug, Default)]
struct Parts<'a> {
    slots: Vec<Slot<'a>>,
    words: Vec<&'a mut String>,
}

impl<'a> Parts<'a> {
    fn of(content: &'a mut Content) -> Self {
        Self::default().and(content)
    }

    fn and(mut self, content: &'a mut Content) -> Self {
        self.slots.push(Slot { content, kept: Kept::InEvent });
        self
    }

    fn hot(mut self, contents: impl IntoIterator<Item = &'a mut Content>) -> Self {
        self.slots.extend(contents.into_iter().map(|content| Slot { content, kept: Kept::InState }));
        self
    }

    fn at(self, place: &'a mut Place) -> Self {
        self.hot(place.frames.iter_mut().filter_map(|frame| frame.items.as_mut()))
    }

    fn words(mut self, words: impl IntoIterator<Item = &'a mut String>) -> Self {
        self.words.extend(words);
        self
    }

    fn reasons(self, reasons: &'a mut [Reason]) -> Self {
        self.words(reasons.iter_mut().flat_map(|reason| [&mut reason.message, &mut reason.fix]))
    }
}
