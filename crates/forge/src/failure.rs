//! Why a forge did not do what it was asked.

/// Each is for whoever asked to act on in another way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("the forge does not accept who asks ({0}); check the account and its token")]
    Auth(String),
    #[error("the forge has no {0}; check the number or the name")]
    NotFound(String),
    /// The base is not where it was; what was proven may not hold any more.
    #[error("the base branch moved from {expected} to {found} meanwhile; prove and deliver again")]
    BaseMoved { expected: String, found: String },
    /// The head is not what was proven.
    #[error("the branch is at {found}, not at {expected}; deliver again")]
    HeadMoved { expected: String, found: String },
    #[error("the branch does not go together with its base; put the conflict right and deliver again")]
    Conflict,
    #[error("the forge refuses it: {because}")]
    Refused { rule: Rule, because: String },
    #[error("the forge asks to wait{}", .seconds.map(|seconds| format!(" {seconds} s")).unwrap_or_default())]
    RateLimit { seconds: Option<u64> },
    #[error("the forge could not be reached ({0}); check the network and try again")]
    Network(String),
    /// It may have been done. Whoever asked has to look before asking again.
    #[error("nobody knows whether the forge did it ({0}); look before it is asked again")]
    UnknownOutcome(String),
    #[error("the forge answered something that is not understood ({0})")]
    Garbled(String),
}

/// Which rule of a forge says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Nobody approves their own.
    SelfApproval,
    /// Somebody else has to approve it first.
    ReviewRequired,
    /// Somebody asked for changes.
    ChangesRequested,
    /// A check that is required has not passed.
    CheckRequired,
    /// It says that it is not ready.
    Draft,
    Other,
}

impl Failure {
    /// Whether asking once more, a little later, may help.
    pub const fn may_pass(&self) -> bool {
        match self {
            Self::RateLimit { .. } | Self::Network(_) | Self::UnknownOutcome(_) => true,
            Self::Auth(_)
            | Self::NotFound(_)
            | Self::BaseMoved { .. }
            | Self::HeadMoved { .. }
            | Self::Conflict
            | Self::Refused { .. }
            | Self::Garbled(_) => false,
        }
    }

    pub(crate) fn refused(rule: Rule, because: impl Into<String>) -> Self {
        Self::Refused { rule, because: because.into() }
    }
}
