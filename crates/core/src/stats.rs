//! What runs of a workflow took, and what that says of one that is under way. From what is on record alone: a model is
//! never asked how long something will take.
//!
//! All figures of a run are with those of the sessions that it led to, but for its duration: while others below are at
//! work, so is the one that waits for them.

mod estimate;
#[cfg(test)]
mod tests;
mod work_time;

use std::collections::BTreeMap;

use longhaul_events::Timestamp;
use serde::Serialize;

use crate::outcome::Outcome;
pub use estimate::{Budgets, Estimate, FEWEST_RUNS, Rest, budgets, estimate};
pub use work_time::{Longest, WorkTime};

/// One run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub workflow: String,
    pub began: Timestamp,
    pub end: RunEnd,
    /// While somebody was at work on it. Waiting for people, money or limits does not count.
    pub work_ms: u64,
    pub turns: u64,
    pub tokens: u64,
    pub cost_micros: u64,
    pub longest: Longest,
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Completed,
    Failed,
    CouldNot,
    Cancelled,
    /// It waits for somebody, or for some time to pass.
    Waits,
    GoesOn,
}

impl RunEnd {
    /// By how a session came out; `None` while it goes on.
    pub const fn of(outcome: Option<&Outcome>) -> Self {
        match outcome {
            None => Self::GoesOn,
            Some(Outcome::Completed { .. }) => Self::Completed,
            Some(Outcome::Failed(_)) => Self::Failed,
            Some(Outcome::CouldNot(_)) => Self::CouldNot,
            Some(Outcome::Cancelled { .. }) => Self::Cancelled,
            Some(Outcome::Blocked(_) | Outcome::Parked(_)) => Self::Waits,
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::CouldNot => "could not",
            Self::Cancelled => "cancelled",
            Self::Waits => "waits",
            Self::GoesOn => "goes on",
        }
    }

    /// Whether it came to its end by itself. How long others took says nothing of the workflow.
    const fn is_measured(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::CouldNot => true,
            Self::Cancelled | Self::Waits | Self::GoesOn => false,
        }
    }
}

/// What the runs of one workflow came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowStats {
    pub workflow: String,
    /// All of them.
    pub runs: u64,
    pub outcomes: BTreeMap<RunEnd, u64>,
    /// Those that the figures below are from: the ones that came to their end by themselves.
    pub measured: u64,
    pub duration_ms: Spread,
    pub turns: Spread,
    pub tokens: Spread,
    pub cost_micros: Spread,
    /// Of all runs together.
    pub total_cost_micros: u64,
}

/// The middle one, and one that few are above.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub p50: u64,
    pub p95: u64,
}

impl Spread {
    /// Of values in any order; nothing if there are none.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = values.into_iter().collect();
        sorted.sort_unstable();
        Self { p50: percentile(&sorted, 50), p95: percentile(&sorted, 95) }
    }
}

/// By the nearest rank, so that it is a value that was seen. Of nothing it is 0.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

/// One row for each workflow, the one that was run most first.
pub fn by_workflow(runs: &[Run]) -> Vec<WorkflowStats> {
    let mut grouped: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        grouped.entry(&run.workflow).or_default().push(run);
    }
    let mut rows: Vec<WorkflowStats> = grouped.iter().map(|(workflow, runs)| row(workflow, runs)).collect();
    rows.sort_by(|one, other| other.runs.cmp(&one.runs).then_with(|| one.workflow.cmp(&other.workflow)));
    rows
}

fn row(workflow: &str, runs: &[&Run]) -> WorkflowStats {
    let mut outcomes: BTreeMap<RunEnd, u64> = BTreeMap::new();
    runs.iter().for_each(|run| *outcomes.entry(run.end).or_default() += 1);
    let measured: Vec<&&Run> = runs.iter().filter(|run| run.end.is_measured()).collect();
    let spread = |part: fn(&Run) -> u64| Spread::of(measured.iter().map(|run| part(run)));
    WorkflowStats {
        workflow: workflow.to_owned(),
        runs: count(runs.len()),
        outcomes,
        measured: count(measured.len()),
        duration_ms: spread(|run| run.work_ms),
        turns: spread(|run| run.turns),
        tokens: spread(|run| run.tokens),
        cost_micros: spread(|run| run.cost_micros),
        total_cost_micros: runs.iter().map(|run| run.cost_micros).fold(0, u64::saturating_add),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
