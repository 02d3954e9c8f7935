//! What earlier runs say of one that is under way: how much of it is left, and which silence is none.

use serde::Serialize;

use super::{Longest, Run, RunEnd, Spread, count, percentile};

/// Of fewer runs nothing is said.
pub const FEWEST_RUNS: usize = 5;

/// No budget becomes longer than this many times its default: what hangs must still be noticed one day.
const MOST_TIMES: u64 = 4;

/// What is left of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// How many runs it is based on.
    pub runs: u64,
    /// `None` if none of them took as long as this one has taken.
    pub rest: Option<Rest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rest {
    /// Half of the runs that came as far as this one needed no longer.
    pub likely_ms: u64,
    /// Nearly all of them needed no longer.
    pub at_most_ms: u64,
}

/// The two budgets for silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budgets {
    /// Inside of a call.
    pub call_ms: u64,
    /// Between calls: a turn without an answer.
    pub turn_ms: u64,
}

/// What is left of a run of a workflow that has been at work for so long, by the completed runs of the same workflow.
/// Only those that took longer than this one has taken so far say anything about what is left of it.
pub fn estimate(workflow: &str, work_ms: u64, runs: &[Run]) -> Option<Estimate> {
    let completed = completed(workflow, runs);
    if completed.len() < FEWEST_RUNS {
        return None;
    }
    let mut left: Vec<u64> = completed
        .iter()
        .filter_map(|run| run.work_ms.checked_sub(work_ms))
        .filter(|left| *left > 0)
        .collect();
    left.sort_unstable();
    let rest = || Rest { likely_ms: percentile(&left, 50), at_most_ms: percentile(&left, 95) };
    let rest = (!left.is_empty()).then(rest);
    Some(Estimate { runs: count(completed.len()), rest })
}

/// How long nothing may be heard in a run of a workflow: twice what nearly all completed runs needed, and never less than
/// by default. A false alarm hurts as much as a hang that nobody sees.
pub fn budgets(workflow: &str, runs: &[Run], defaults: Budgets) -> Budgets {
    let completed = completed(workflow, runs);
    if completed.len() < FEWEST_RUNS {
        return defaults;
    }
    let longest = |part: fn(&Longest) -> u64| Spread::of(completed.iter().map(|run| part(&run.longest))).p95;
    let longer = |seen_ms: u64, default_ms: u64| {
        let most = default_ms.saturating_mul(MOST_TIMES);
        seen_ms.saturating_mul(2).clamp(default_ms, most)
    };
    Budgets {
        call_ms: longer(longest(|longest| longest.call_ms), defaults.call_ms),
        turn_ms: longer(longest(|longest| longest.turn_ms), defaults.turn_ms),
    }
}

fn completed<'a>(workflow: &str, runs: &'a [Run]) -> Vec<&'a Run> {
    runs.iter().filter(|run| run.workflow == workflow && run.end == RunEnd::Completed).collect()
}
