//! A trigger's own history: what came, what became of it, and how often.
//!
//! That the same delivery starts no second task does not rest on what is remembered here: the id of a task is made from
//! what was delivered, so a second one would have to open a task that is there. What is counted here is for caps,
//! schedules and people.

use longhaul_events::{Intake, Seq, TaskId, Timestamp, TriggerEvent, TriggerId, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::budget::day_of;
use crate::canonical::sha256;

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 1;

/// What the events of a trigger amount to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct History {
    pub id: TriggerId,
    pub seq: Seq,
    pub name: String,
    pub workspace: Option<WorkspaceId>,
    pub counts: Counts,
    /// The newest moment of its schedule that was dealt with.
    pub last_due: Option<Timestamp>,
    pub last_task: Option<TaskId>,
    /// On which day how many tasks were opened.
    pub today: Today,
}

/// How often something became of an occasion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub tasks: u64,
    pub duplicates: u64,
    pub not_wanted: u64,
    pub refused: u64,
    pub skipped: u64,
}

/// How many tasks were opened on the newest day on which any was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Today {
    pub day: i64,
    pub tasks: u64,
}

/// The id of the trigger of this name, declared by this repository or by the user.
pub fn trigger_id(workspace: Option<WorkspaceId>, name: &str) -> TriggerId {
    let scope = workspace.map_or_else(|| "user".to_owned(), |workspace| workspace.to_string());
    TriggerId::from_bytes(first_bytes(&["trigger", &scope, name]))
}

/// The task of one occasion. The same occasion has the same, in every process and after every crash.
pub fn task_id(trigger: TriggerId, occasion: &str) -> TaskId {
    TaskId::from_bytes(first_bytes(&["task", &trigger.to_string(), occasion]))
}

/// A delivery, by what tells it from every other one to its trigger.
pub fn occasion(key: &str) -> String {
    format!("delivery {key}")
}

fn first_bytes(parts: &[&str]) -> [u8; 8] {
    // A zero byte stands in none of them, so no two lists of parts read the same.
    let digest = sha256(parts.join("\0").as_bytes()).0;
    std::array::from_fn(|n| digest[n])
}

impl History {
    /// What is known of a trigger of which nothing is on record.
    pub fn new(id: TriggerId) -> Self {
        Self {
            id,
            seq: Seq(0),
            name: String::new(),
            workspace: None,
            counts: Counts::default(),
            last_due: None,
            last_task: None,
            today: Today::default(),
        }
    }

    /// Takes in one more fact, as of when it was written. Total: what is in the log has happened.
    pub fn apply(&mut self, at: Timestamp, event: &TriggerEvent) {
        self.seq = self.seq.plus(1);
        match event {
            TriggerEvent::Named { name, workspace } => {
                self.name.clone_from(name);
                self.workspace = *workspace;
            }
            TriggerEvent::Delivered { outcome, .. } | TriggerEvent::Fired { outcome, .. } => {
                self.count(at, outcome);
            }
            TriggerEvent::Ticked { due, outcome } => {
                self.last_due = self.last_due.max(Some(*due));
                self.count(at, outcome);
            }
        }
    }

    fn count(&mut self, at: Timestamp, outcome: &Intake) {
        match outcome {
            Intake::Task { task } => {
                self.counts.tasks += 1;
                self.last_task = Some(*task);
                let day = day_of(at);
                let tasks = if self.today.day == day { self.today.tasks } else { 0 };
                self.today = Today { day, tasks: tasks + 1 };
            }
            Intake::Duplicate { .. } => self.counts.duplicates += 1,
            Intake::NotWanted { .. } => self.counts.not_wanted += 1,
            Intake::Refused { .. } => self.counts.refused += 1,
            Intake::Skipped { .. } => self.counts.skipped += 1,
        }
    }

    /// How many tasks it opened on the day of this moment.
    pub fn tasks_on(&self, at: Timestamp) -> u64 {
        if self.today.day == day_of(at) { self.today.tasks } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use longhaul_events::Digest;

    use super::*;

    const DAY: i64 = 24 * 60 * 60 * 1000;

    #[test]
    fn the_same_occasion_is_the_same_task_and_no_other_is() {
        let trigger = trigger_id(None, "hook");
        let task = |key: &str| task_id(trigger, &occasion(key));
        assert_eq!(task("id:a"), task("id:a"));
        let different = [
            task("id:a"),
            task("id:b"),
            task("body:a"),
            task_id(trigger, "due 1"),
            task_id(trigger_id(None, "hook2"), &occasion("id:a")),
            task_id(trigger_id(Some(WorkspaceId::from_bytes([1; 5])), "hook"), &occasion("id:a")),
        ];
        for (n, one) in different.iter().enumerate() {
            assert!(different.iter().skip(n + 1).all(|another| one != another), "{n}");
        }
    }

    #[test]
    fn tasks_are_counted_by_day_and_the_rest_for_ever() {
        let mut history = History::new(trigger_id(None, "hook"));
        let task = TaskId::from_bytes([1; 8]);
        let delivered = |outcome| TriggerEvent::Delivered { delivery: None, body: Digest::ZERO, outcome };
        history.apply(Timestamp(DAY), &TriggerEvent::Named { name: "hook".into(), workspace: None });
        history.apply(Timestamp(DAY), &delivered(Intake::Task { task }));
        history.apply(Timestamp(DAY + 1), &delivered(Intake::Task { task }));
        history.apply(Timestamp(DAY + 2), &delivered(Intake::Duplicate { task }));
        assert_eq!((history.tasks_on(Timestamp(DAY + 9)), history.tasks_on(Timestamp(2 * DAY))), (2, 0));
        history.apply(Timestamp(2 * DAY), &delivered(Intake::Task { task }));
        assert_eq!(history.tasks_on(Timestamp(2 * DAY)), 1);
        assert_eq!(history.counts, Counts { tasks: 3, duplicates: 1, ..Counts::default() });
        assert_eq!((history.seq, history.name.as_str()), (Seq(5), "hook"));
    }

    #[test]
    fn a_clock_that_goes_back_does_not_bring_a_tick_back() {
        let mut history = History::new(trigger_id(None, "nightly"));
        let tick = |due| TriggerEvent::Ticked { due, outcome: Intake::Skipped { because: "late".into() } };
        history.apply(Timestamp(9), &tick(Timestamp(8)));
        history.apply(Timestamp(4), &tick(Timestamp(3)));
        assert_eq!(history.last_due, Some(Timestamp(8)));
    }
}
