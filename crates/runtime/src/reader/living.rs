//! How sessions came out, and what they are doing.

use longhaul_core::outcome::{self, Halt, Holder, Live, Outcome, Signs};
use longhaul_events::Timestamp;
use longhaul_store::views::{SessionRow, SessionStatus, Waiting};

use crate::clock::{Clock as _, SystemClock};
use crate::runner::leftovers::{is_alive, is_dead};

/// The word for steps that the engine does itself.
const ENGINE: &str = "run";

/// How a session came out; `None` while it goes on, or if nobody can tell.
pub fn outcome_of(row: &SessionRow) -> Option<Outcome> {
    if row.damage.is_some() {
        return None;
    }
    match &row.status {
        SessionStatus::Closed(closed) => outcome::outcome(Some(closed), halt(row)),
        SessionStatus::Open => outcome::outcome(None, halt(row)),
    }
}

/// What a session is doing at this moment; `None` for one that is closed.
pub fn live_of(row: &SessionRow) -> Option<Live> {
    if row.damage.is_some() || row.status != SessionStatus::Open {
        return None;
    }
    let tool = match row.waiting {
        Waiting::Work => Some(ENGINE),
        Waiting::Agent => row.driven.tool.as_deref(),
        Waiting::Nothing | Waiting::Gate(_) | Waiting::Parked { .. } => None,
    };
    Some(outcome::live(&Signs { halt: halt(row), holder: holder(row, SystemClock.now()), tool }))
}

fn halt(row: &SessionRow) -> Halt<'_> {
    match &row.waiting {
        Waiting::Nothing | Waiting::Agent | Waiting::Work => Halt::Not,
        Waiting::Gate(_) => Halt::Gate,
        Waiting::Parked { code, because } => Halt::Parked { code, because },
    }
}

/// Of a process on another machine only the lease tells.
pub(crate) fn holder(row: &SessionRow, now: Timestamp) -> Holder {
    let Some(driver) = &row.driver else { return Holder::Nobody };
    let is_late = row.driven.held_until.is_some_and(|until| until < now);
    match (is_dead(driver), is_alive(driver), is_late) {
        (true, _, _) | (false, false, true) => Holder::Gone,
        (false, true, true) => Holder::Late,
        (false, _, false) => Holder::Active,
    }
}
