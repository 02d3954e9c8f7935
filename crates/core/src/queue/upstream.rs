//! Tasks that come after others, and those that wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use longhaul_events::TaskId;

use super::snapshot::{Queued, Upstream, UpstreamState};
use super::waits::ForPerson;

/// Circles among the tasks that wait, by each of their members. Whatever waits in vain waits for one of them.
pub(super) fn circles(queued: &[Queued]) -> BTreeMap<TaskId, Arc<[TaskId]>> {
    let open = |task: &Queued| -> Vec<TaskId> { still_open(&task.after).collect() };
    let mut waits: BTreeMap<TaskId, Vec<TaskId>> = queued
        .iter()
        .filter(|task| !task.after.is_empty())
        .map(|task| (task.work.task, open(task)))
        .filter(|(_, upstream)| !upstream.is_empty())
        .collect();
    trim(&mut waits);
    // Each that is left waits for another that is left, so whoever follows the first of them comes to a circle.
    let next: BTreeMap<TaskId, TaskId> = waits
        .iter()
        .filter_map(|(task, upstream)| {
            Some((*task, *upstream.iter().filter(|other| waits.contains_key(other)).min()?))
        })
        .collect();
    let mut seen = BTreeSet::new();
    let mut found = BTreeMap::new();
    for start in next.keys() {
        let mut way = Vec::new();
        let mut at = *start;
        while seen.insert(at) {
            way.push(at);
            at = next[&at];
        }
        if let Some(from) = way.iter().position(|task| *task == at) {
            let circle: Arc<[TaskId]> = from_the_least(&way[from..]).into();
            found.extend(circle.iter().map(|member| (*member, Arc::clone(&circle))));
        }
    }
    found
}

/// Takes away whoever waits for nobody that is left, until nobody is taken away.
fn trim(waits: &mut BTreeMap<TaskId, Vec<TaskId>>) {
    let mut downstream: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    let mut left: BTreeMap<TaskId, usize> = BTreeMap::new();
    for (task, upstream) in &*waits {
        let inside: BTreeSet<TaskId> =
            upstream.iter().copied().filter(|other| waits.contains_key(other)).collect();
        left.insert(*task, inside.len());
        for other in inside {
            downstream.entry(other).or_default().push(*task);
        }
    }
    let mut free: Vec<TaskId> =
        left.iter().filter(|(_, count)| **count == 0).map(|(task, _)| *task).collect();
    while let Some(task) = free.pop() {
        waits.remove(&task);
        for other in downstream.remove(&task).unwrap_or_default() {
            if let Some(count) = left.get_mut(&other) {
                *count -= 1;
                if *count == 0 {
                    free.push(other);
                }
            }
        }
    }
}

fn from_the_least(circle: &[TaskId]) -> Vec<TaskId> {
    let least = circle.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(index, _)| index);
    circle.iter().cycle().skip(least).take(circle.len()).copied().collect()
}

/// Those that are not over yet.
pub(super) fn still_open(after: &[Upstream]) -> impl Iterator<Item = TaskId> + '_ {
    after.iter().filter(|upstream| upstream.state == UpstreamState::Open).map(|upstream| upstream.task)
}

/// Why a person has to say whether a task still makes sense: what it comes after did not come to its end.
pub(super) fn broken(after: &[Upstream]) -> Option<ForPerson> {
    after.iter().find_map(|Upstream { task, state }| match state {
        UpstreamState::Open | UpstreamState::Completed => None,
        UpstreamState::Failed { because } => {
            Some(ForPerson::UpstreamFailed { task: *task, because: because.clone() })
        }
        UpstreamState::Cancelled { by } => Some(ForPerson::UpstreamCancelled { task: *task, by: by.clone() }),
        UpstreamState::NotHere => Some(ForPerson::UpstreamNotHere { task: *task }),
    })
}
