//! Resting: whoever serves goes away, and a runner lets go of its session at the next safe boundary. Nothing is closed, nothing
//! is cut that cannot be taken up again, and whoever comes next goes on.
//!
//! The wish is a signal to the runner's own process, and nothing else. So none is left over for the runner after it, whoever
//! is killed on the way, and a machine that shuts down wishes the same.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use longhaul_core::session::Session;

use crate::workers::is_worker;

/// How long an answer that was asked for is waited for: it is paid for already.
const ANSWER_GRACE: Duration = Duration::from_secs(20);

/// What a wish to rest means for something that goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AtRest {
    /// It comes to its end first: half of it could not be taken up again.
    #[default]
    GoesOn,
    /// Nothing more begins.
    LetsGo,
}

impl AtRest {
    /// A worker is one call of whoever asked it, and calls come to their end.
    pub(super) fn of(session: &Session) -> Self {
        if is_worker(session) { Self::GoesOn } else { Self::LetsGo }
    }

    pub(super) fn is_due(self) -> bool {
        match self {
            Self::GoesOn => is_urgent(),
            Self::LetsGo => is_wished(),
        }
    }
}

/// From here on being asked to end is a wish to rest.
pub(super) fn heed() {
    longhaul_exec::catch_terminations();
}

/// Whether nothing more may begin.
pub(super) fn is_wished() -> bool {
    longhaul_exec::terminations() > 0
}

/// Whether it was wished again: calls that are under way are ended too.
pub(super) fn is_urgent() -> bool {
    longhaul_exec::terminations() > 1
}

/// Whether an answer that was asked for is not waited for any longer. Called often while one is.
pub(super) fn is_overdue() -> bool {
    static SINCE: OnceLock<Instant> = OnceLock::new();
    is_wished() && (is_urgent() || SINCE.get_or_init(Instant::now).elapsed() >= ANSWER_GRACE)
}
