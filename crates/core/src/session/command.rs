//! What a session can be asked to do, and how it says no.

use std::collections::BTreeMap;

use longhaul_events::{
    AgentAct, Caps, Channel, Checkout, CloseOutcome, Content, DeliveryFact, Digest, Driver, Epoch, GateKind,
    NodeId, Nonce, OwnCheckout, Place, Reason, ReportKind, Restored, SessionEvent, SessionId, SessionKey,
    StepId, Taint, TaskId, Timestamp, Verdict, Waits, WorkspaceId,
};

use super::StopWish;

/// Makes a session. Random bytes come from the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSession {
    pub key: SessionKey,
    pub goal: Content,
    pub workspace: Option<WorkspaceId>,
    pub parent: Option<SessionId>,
    /// What it is part of.
    pub task: Option<TaskId>,
    /// What it follows; without one its steps are the caller's to choose.
    pub workflow: Option<PinWorkflow>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PinWorkflow {
    pub id: String,
    pub version: String,
    pub hash: Digest,
    pub workflow: Content,
    pub checkout: Option<Checkout>,
    pub vars: BTreeMap<String, Content>,
    pub onward: Onward,
}

/// Who asks, and when. A driver names its epoch; a call that holds no lease names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor {
    pub epoch: Option<Epoch>,
    pub now: Timestamp,
}

/// A wish that becomes facts or a [`Rejection`].
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    TakeDriver {
        driver: Driver,
        lease_ms: u64,
        now: Timestamp,
    },
    /// Somebody has seen that the process which drives it is no more.
    NoticeDeath {
        epoch: Epoch,
        now: Timestamp,
    },
    RenewDriver {
        epoch: Epoch,
        lease_ms: u64,
        now: Timestamp,
    },
    ReleaseDriver {
        epoch: Epoch,
    },
    NoticeExpiry {
        epoch: Epoch,
        now: Timestamp,
    },
    /// Hands out a step where nothing else is out; for sessions without a workflow, whose steps the caller chooses.
    HandOut {
        actor: Actor,
        step: NewStep,
    },
    Finish {
        actor: Actor,
        finish: FinishStep,
    },
    Refuse {
        actor: Actor,
        refuse: RefuseAttempt,
    },
    /// Asks for a handle of a node that was handed out earlier; the caller has seen it in the log.
    Reissue {
        actor: Actor,
        node: NodeId,
        nonce: Nonce,
    },
    StartWork {
        epoch: Epoch,
        work: NodeId,
        what: Content,
    },
    FinishWork {
        epoch: Epoch,
        work: NodeId,
        result: Content,
        onward: Onward,
    },
    AnswerGate {
        actor: Actor,
        answer: GateAnswer,
    },
    /// Closes the session if the gate's time is up.
    ExpireGate {
        now: Timestamp,
    },
    Checkpoint {
        actor: Actor,
        node: NodeId,
        notes: Content,
    },
    /// Changes nothing, so a driver at work is not in the way.
    Report {
        kind: ReportKind,
        report: Content,
    },
    /// An agent that we drive does the steps from here on.
    Assign {
        actor: Actor,
        agent: String,
        settings: Content,
        taint: Taint,
        budget: NewBudget,
    },
    /// What a request used that was on record before it went out, or how a turn ended that was under way when the session
    /// went on. Nobody's leave is needed: it happened, also if the session is over by then.
    Settle {
        /// Where it belongs, if not where the session stands.
        node: Option<NodeId>,
        act: AgentAct,
    },
    /// Goes on with what was parked at this node, if what it waited for is due by now.
    Wake {
        node: NodeId,
        nonce: Nonce,
        now: Timestamp,
    },
    /// What it may use from here on. A driver at work is not in the way, and learns of it before its next turn.
    /// What was parked for want of it goes on.
    SetBudget {
        budget: NewBudget,
        nonce: Nonce,
    },
    /// A person says something to the agent. A driver at work is not in the way, and passes it on with its next turn. A
    /// step that was parked goes on.
    Steer {
        words: Content,
        by: String,
        nonce: Nonce,
    },
    /// A person says something to whoever works on the task. The agent hears it where it next has a step; what is parked stays
    /// parked.
    Tell {
        words: Content,
        by: String,
    },
    /// What happened between the session and the agent that its driver asks.
    Act {
        epoch: Epoch,
        acts: Vec<AgentAct>,
    },
    /// The driver gives the step up: a person has to look at it.
    Park {
        epoch: Epoch,
        reasons: Vec<Reason>,
        waits: Option<Waits>,
    },
    Rewind {
        rewind: RewindTo,
    },
    /// Opens a follow-up phase of a completed session.
    Continue {
        actor: Actor,
        text: Content,
        step: NewStep,
    },
    /// Somebody wants it ended with all that runs for it. Whoever drives it does that; others may if nobody does.
    RequestStop {
        wish: StopWish,
    },
    Close {
        actor: Actor,
        outcome: CloseOutcome,
    },
    MakeCheckout {
        checkout: OwnCheckout,
    },
    KeepSnapshot {
        kept: KeptSnapshot,
        as_what: KeptAs,
    },
    RemoveCheckout {
        by: String,
        because: String,
    },
    /// Whoever does the work puts on record what others see of it, before it is done and after.
    Deliver {
        epoch: Epoch,
        work: NodeId,
        fact: DeliveryFact,
    },
}

/// What a snapshot is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptAs {
    /// What the session begins with at this node; a rewind comes back to it.
    Beginning(NodeId),
    /// Files as they happen to be.
    Between,
}

/// What was kept of a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSnapshot {
    pub snapshot: String,
    pub tree: String,
    pub head: Option<String>,
    pub because: String,
    pub left_out: Vec<String>,
}

impl Command {
    /// Whether it may take up a session that is closed.
    pub(super) const fn may_follow_the_end(&self) -> bool {
        match self {
            // Files are kept, restored and removed also when the session is long over.
            Self::Rewind { .. }
            | Self::Continue { .. }
            | Self::Settle { .. }
            | Self::MakeCheckout { .. }
            | Self::KeepSnapshot { .. }
            | Self::RemoveCheckout { .. } => true,
            Self::TakeDriver { .. }
            | Self::NoticeDeath { .. }
            | Self::RenewDriver { .. }
            | Self::ReleaseDriver { .. }
            | Self::NoticeExpiry { .. }
            | Self::HandOut { .. }
            | Self::Finish { .. }
            | Self::Refuse { .. }
            | Self::Reissue { .. }
            | Self::StartWork { .. }
            | Self::FinishWork { .. }
            | Self::AnswerGate { .. }
            | Self::ExpireGate { .. }
            | Self::Checkpoint { .. }
            | Self::Report { .. }
            | Self::Assign { .. }
            | Self::Wake { .. }
            | Self::SetBudget { .. }
            | Self::Steer { .. }
            | Self::Tell { .. }
            | Self::Act { .. }
            | Self::Park { .. }
            | Self::RequestStop { .. }
            | Self::Deliver { .. }
            | Self::Close { .. } => false,
        }
    }
}

/// Caps, and who set them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewBudget {
    pub caps: Caps,
    pub by: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewStep {
    pub step: StepId,
    pub prompt: Content,
    pub nonce: Nonce,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FinishStep {
    pub node: NodeId,
    pub nonce: Nonce,
    pub payload: Content,
    pub payload_hash: Digest,
    pub answer: Content,
    pub onward: Onward,
    /// What was in force at the node, for a handle of an older one.
    pub restored: Option<Restored>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RefuseAttempt {
    pub node: NodeId,
    pub nonce: Nonce,
    pub payload: Content,
    pub payload_hash: Digest,
    pub reasons: Vec<Reason>,
    pub retry: Nonce,
    /// How many refusals the step allows.
    pub attempts: u32,
    pub restored: Option<Restored>,
}

/// The way on, as the workflow has it: facts on the way, and where it leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Onward {
    pub facts: Vec<SessionEvent>,
    pub arrival: Arrival,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    Step(NewStep),
    Work { step: StepId, place: Place },
    Gate(NewGate),
    Park { step: StepId, reasons: Vec<Reason>, place: Place },
    Close(CloseOutcome),
}

impl From<Arrival> for Onward {
    fn from(arrival: Arrival) -> Self {
        Self { facts: Vec::new(), arrival }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewGate {
    pub step: StepId,
    pub kind: GateKind,
    pub question: Content,
    pub accepts: Channel,
    pub until: Timestamp,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GateAnswer {
    pub gate: NodeId,
    pub verdict: Verdict,
    pub by: String,
    pub channel: Channel,
    pub words: Content,
    pub onward: Onward,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RewindTo {
    pub node: NodeId,
    pub reason: Content,
    pub by: String,
    pub restored: Restored,
    /// The snapshot that has to be back in the session's own checkout.
    pub restore: Option<String>,
    pub nonce: Nonce,
    /// The step, the work or the gate that the session stands at again.
    pub arrival: Arrival,
}

/// Why the domain says no. An answer, not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the session has ended already; `longhaul session show` says how")]
    Closed,
    #[error(
        "the session is driven by process {} on `{}`; wait until it is done, or stop that process",
        driver.process, driver.host
    )]
    Driven { driver: Driver, epoch: Epoch, until: Timestamp },
    #[error(
        "epoch {epoch} is no longer the driver, the newest is {current}; stop this driver and read the log"
    )]
    StaleDriver { epoch: Epoch, current: Epoch },
    #[error("the lease of epoch {epoch} has not ended yet; look again later")]
    NotExpired { epoch: Epoch, until: Timestamp },
    #[error("step `{step}` is out already; finish it first")]
    StepIsOut { step: StepId },
    #[error("the handle is not open any more; ask for the current step")]
    NotLive { node: NodeId, nonce: Nonce },
    #[error(
        "the session went back {returns} times by older handles and does not do so again by itself; go on from where it stands, or have a person rewind it (`longhaul session rewind`)"
    )]
    TooManyReturns { returns: u32 },
    #[error("no step is out that could be given up; look at the session again")]
    NothingToPark,
    #[error("the session does not wait for anything that is due by now")]
    NotDue,
    #[error(
        "no agent of ours drives the session, so there is nobody to tell; answer its step yourself, or ask a completed session for more with `longhaul session continue`"
    )]
    NotDriven,
    #[error(
        "the agent has no step at the moment, so nobody would hear it; `longhaul session show` says what the session waits for"
    )]
    NobodyListens,
    #[error("node {node} was never handed out in this session; ask for the current step")]
    NoSuchNode { node: NodeId },
    #[error("there is no work {work} to do in this session; look at the session again")]
    NoSuchWork { work: NodeId },
    #[error("gate {gate} is not open; `longhaul gate list` shows the open ones")]
    NoSuchGate { gate: NodeId },
    #[error(
        "this gate takes an answer by `{}` or stronger, not by `{}`; answer it there",
        channel_word(*accepts), channel_word(*channel)
    )]
    WeakChannel { accepts: Channel, channel: Channel },
    #[error("the gate's time has not come yet; look again later")]
    GateNotDue { until: Timestamp },
    #[error(
        "only a completed session can be asked for more, and this one is not; `longhaul session show` says where it stands"
    )]
    NotCompleted,
    #[error("{by} stops the session; wait until it has ended, or end it at once with `longhaul stop --now`")]
    Stopping { by: String },
    #[error("the session was cancelled; start a new one")]
    Cancelled,
    #[error(
        "the session has delivered something that others see (`{step}`), and is not taken back to before it; go on from there, or start a new session"
    )]
    PastDelivery { step: StepId },
    #[error("the session has the worktree `{name}` already, at `{path}`; work there")]
    HasCheckout { name: String, path: String },
    #[error("the session has no worktree of its own; `longhaul worktree new` makes one")]
    NoCheckout,
}

/// The word for a channel that people meet.
pub const fn channel_word(channel: Channel) -> &'static str {
    match channel {
        Channel::Client => "client",
        Channel::Terminal => "terminal",
        Channel::Console => "console",
        Channel::Forge => "forge",
    }
}

impl Rejection {
    /// The page that explains it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Closed | Self::Cancelled | Self::Stopping { .. } | Self::NotCompleted => "E0207",
            Self::Driven { .. } => "E0206",
            Self::StaleDriver { .. } | Self::NotExpired { .. } => "E0205",
            Self::StepIsOut { .. } => "E0208",
            Self::NotLive { .. }
            | Self::TooManyReturns { .. }
            | Self::NothingToPark
            | Self::NotDue
            | Self::NoSuchNode { .. }
            | Self::NoSuchWork { .. } => "E0204",
            Self::NoSuchGate { .. } | Self::WeakChannel { .. } | Self::GateNotDue { .. } => "E0209",
            Self::NotDriven | Self::NobodyListens => "E0220",
            Self::HasCheckout { .. } | Self::NoCheckout => "E0701",
            Self::PastDelivery { .. } => "E0210",
        }
    }
}
