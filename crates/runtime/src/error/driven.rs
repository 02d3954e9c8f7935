//! What goes wrong with sessions that an agent of ours does.

use longhaul_events::SessionId;

use super::{HiringError, Kind};

#[derive(Debug, thiserror::Error)]
pub enum DrivenError {
    #[error(
        "the walls of level `{level}` cannot be put up here: could not {step}: {because}; put that right, set `sandbox.accept_reduced: true` to go on at level reduced, or choose a level with `--sandbox`"
    )]
    NoWalls { level: &'static str, step: String, because: String },
    #[error(
        "`sandbox.caches` names `{path}`, which {problem}; name a folder in your home that holds nothing else"
    )]
    UnfitCache { path: String, problem: String },
    #[error("the worktree of session `{0}` is gone; bring it back with `longhaul worktree restore`")]
    NoCheckout(SessionId),
    #[error("the runner of session `{0}` dies as often as it is started; `longhaul -v runner {0}` tells why")]
    RunnerDies(SessionId),
    #[error(
        "no agent of ours drives session `{id}`, so it has no {lacks}; `longhaul session show {id}` tells what happened in it"
    )]
    NotDriven { id: SessionId, lacks: &'static str },
    #[error(
        "session `{0}` has no snapshot of a worktree of its own to compare with; only what `longhaul run` drove can be replayed"
    )]
    NothingToReplay(SessionId),
    #[error(
        "session `{0}` delivers what it does, and a replay would deliver it once more; play what `longhaul session record {0}` writes in a clone without a remote: `longhaul run GOAL --cassette FILE`"
    )]
    WouldDeliver(SessionId),
    #[error(
        "git does not know in whose name to commit what `{workflow}` delivers, so nothing was started; run `git config --global user.name NAME` and `git config --global user.email ADDRESS`, or set `identity.name` and `identity.email`"
    )]
    Nameless { workflow: String },
    #[error(
        "what you say has {0} bytes, and at most 16,384 are passed on; put it into a file of the worktree and name that"
    )]
    TooMuchToSay(usize),
    #[error("there is nothing to say; give a text, `-` or `@FILE`")]
    NothingToSay,
    #[error(transparent)]
    Hiring(#[from] HiringError),
    #[error(transparent)]
    PastUnreadable(longhaul_core::transcript::Unread),
}

impl DrivenError {
    pub(super) const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Hiring(error) => Some(error.code()),
            Self::NoWalls { .. } => Some("E0801"),
            Self::UnfitCache { .. } => Some("E0802"),
            Self::NotDriven { .. } | Self::NothingToReplay(_) | Self::WouldDeliver(_) => Some("E0220"),
            Self::PastUnreadable(_)
            | Self::Nameless { .. }
            | Self::NoCheckout(_)
            | Self::RunnerDies(_)
            | Self::TooMuchToSay(_)
            | Self::NothingToSay => None,
        }
    }

    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Hiring(error) => error.kind(),
            Self::TooMuchToSay(_) | Self::NothingToSay | Self::UnfitCache { .. } => Kind::Usage,
            Self::NotDriven { .. } | Self::NothingToReplay(_) | Self::WouldDeliver(_) => Kind::Refused,
            Self::PastUnreadable(_)
            | Self::Nameless { .. }
            | Self::NoCheckout(_)
            | Self::RunnerDies(_)
            | Self::NoWalls { .. } => Kind::Environment,
        }
    }
}
