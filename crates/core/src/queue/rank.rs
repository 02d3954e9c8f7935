//! Who goes first, and why: priority, a deadline that comes near, and the time that a task has waited.
//!
//! Only the time grows without end, and it grows alike for all that wait. So a task is overtaken only by what comes within a
//! bounded time after it, and nothing waits for ever.

use std::fmt;

use longhaul_events::{Priority, TaskId, Timestamp};

use super::snapshot::{Place, Queued};

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// A task gets a point for each of these that it has waited.
pub const A_POINT_OF_AGE_MS: u64 = 12 * HOUR_MS;

/// The points of a deadline: what is left until then, and how many.
const NEAR: [(u64, u64); 3] = [(2 * DAY_MS, 3), (7 * DAY_MS, 2), (14 * DAY_MS, 1)];
const PAST_DUE: u64 = 4;

/// The points of a priority.
pub const fn points(priority: Priority) -> u64 {
    match priority {
        Priority::Low => 0,
        Priority::Normal => 2,
        Priority::High => 4,
        Priority::Urgent => 6,
    }
}

/// The place of a task among those that wait, with all that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// The sum of the points.
    pub score: u64,
    pub priority: Priority,
    pub deadline: Option<Due>,
    pub waited_ms: u64,
    pub place: Place,
}

/// How near a deadline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    In { ms: u64 },
    PastBy { ms: u64 },
}

impl Due {
    fn at(deadline: Timestamp, now: Timestamp) -> Self {
        if deadline < now {
            Self::PastBy { ms: now.since_ms(deadline) }
        } else {
            Self::In { ms: deadline.since_ms(now) }
        }
    }

    pub fn points(self) -> u64 {
        match self {
            Self::PastBy { .. } => PAST_DUE,
            Self::In { ms } => NEAR.iter().find(|(left, _)| ms < *left).map_or(0, |(_, points)| *points),
        }
    }
}

/// What sorts the queue: whoever is put first or else the score, then who came first. The smaller goes first.
pub(super) type Order = (u64, u64, TaskId);

/// Above all whom a person put first.
const USUAL: u64 = 1 << 63;

impl Rank {
    pub fn of(task: &Queued, now: Timestamp) -> Self {
        let deadline = task.deadline.map(|deadline| Due::at(deadline, now));
        let (since, speaks) = match task.place {
            Place::First { .. } | Place::Usual => {
                (task.since, points(task.priority) + deadline.map_or(0, Due::points))
            }
            Place::Last { since } => (since, 0),
        };
        let waited_ms = now.since_ms(since);
        let score = speaks + waited_ms / A_POINT_OF_AGE_MS;
        Self { score, priority: task.priority, deadline, waited_ms, place: task.place }
    }

    pub(super) fn order(&self, task: &Queued) -> Order {
        // One number for both, because ten thousand tasks are sorted for each start.
        let above = match self.place {
            Place::First { since } => (USUAL - 1) - u64::try_from(since.0).unwrap_or(0),
            Place::Usual | Place::Last { .. } => u64::MAX - self.score.min(USUAL - 1),
        };
        (above, task.position, task.work.task)
    }

    pub const fn is_past_due(&self) -> bool {
        matches!(self.deadline, Some(Due::PastBy { .. }))
    }
}

/// With its parts, so that nobody has to reckon.
impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = self.waited_ms / A_POINT_OF_AGE_MS;
        let waited = about(self.waited_ms);
        match self.place {
            Place::First { .. } => f.write_str("put first by hand; ")?,
            Place::Usual => {}
            Place::Last { .. } => {
                return write!(f, "put last by hand; score {}: waited {waited} since then {age}", self.score);
            }
        }
        write!(f, "score {}: priority {} {}", self.score, self.priority.word(), points(self.priority))?;
        match self.deadline {
            Some(due @ Due::In { ms }) => write!(f, ", due in {} {}", about(ms), due.points())?,
            Some(due @ Due::PastBy { ms }) => write!(f, ", past due by {} {}", about(ms), due.points())?,
            None => {}
        }
        write!(f, ", waited {waited} {age}")
    }
}

/// A time in its largest unit, rounded down.
pub(crate) fn about(ms: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("d", DAY_MS), ("h", HOUR_MS), ("m", 60_000), ("s", 1000)];
    let fitting = UNITS.into_iter().find(|(_, unit)| ms >= *unit);
    fitting.map_or_else(|| "0s".to_owned(), |(name, unit)| format!("{}{name}", ms / unit))
}
