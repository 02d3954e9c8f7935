//! What a session can be asked to do, and how it says no.

use longhaul_events::{
    CloseOutcome, Content, Digest, Driver, Epoch, NodeId, Nonce, SessionId, SessionKey, StepId, Timestamp,
    WorkspaceId,
};

/// Makes a session. Random bytes come from the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenSession {
    pub key: SessionKey,
    pub goal: Content,
    pub workspace: Option<WorkspaceId>,
    pub parent: Option<SessionId>,
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
    HandOut {
        actor: Actor,
        step: NewStep,
    },
    Finish {
        actor: Actor,
        finish: FinishStep,
    },
    /// Asks for a handle of a node that was handed out earlier; the caller has seen it in the log.
    Reissue {
        actor: Actor,
        node: NodeId,
        nonce: Nonce,
    },
    Close {
        actor: Actor,
        outcome: CloseOutcome,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewStep {
    pub step: StepId,
    pub prompt: Content,
    pub nonce: Nonce,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FinishStep {
    pub node: NodeId,
    pub nonce: Nonce,
    pub payload: Content,
    pub payload_hash: Digest,
    pub answer: Content,
    pub then: Then,
}

/// What follows a finished step.
#[derive(Debug, Clone, PartialEq)]
pub enum Then {
    HandOut(NewStep),
    Close(CloseOutcome),
}

/// Why the domain says no. An answer, not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the session is closed; start a new one")]
    Closed,
    #[error(
        "the session is driven by process {} on `{}` until its lease ends; wait, or stop that process",
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
    #[error("node {node} was never handed out in this session; ask for the current step")]
    NoSuchNode { node: NodeId },
}

impl Rejection {
    /// The page that explains it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Closed => "E0207",
            Self::Driven { .. } => "E0206",
            Self::StaleDriver { .. } | Self::NotExpired { .. } => "E0205",
            Self::StepIsOut { .. } => "E0208",
            Self::NotLive { .. } | Self::NoSuchNode { .. } => "E0204",
        }
    }
}
