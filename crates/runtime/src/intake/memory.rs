//! What an intake remembers of deliveries, so that the same one again costs nothing and fills nothing.
//!
//! That it opens no second task does not rest on this: the id of a task is made from what was delivered. It can be lost at
//! any time, and is made anew from the newest events.

use std::collections::{HashMap, VecDeque};

use longhaul_events::{Digest, Intake, TaskId, TriggerEvent, TriggerId};

use crate::commands::Commands;
use crate::error::Error;

/// Of so many deliveries it is known that they came before.
const MOST: usize = 50_000;

/// How often the same delivery is put on record again. Whoever once saw a signed request can send it for ever, and must not be
/// able to fill the log with it.
const MOST_REPEATS: u32 = 3;

/// What makes two deliveries to a trigger the same.
type Mark = (TriggerId, String);

#[derive(Debug)]
pub(super) struct Memory {
    most: usize,
    known: HashMap<Mark, Known>,
    /// The oldest first.
    order: VecDeque<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// None if it was not wanted.
    task: Option<TaskId>,
    repeats: u32,
}

/// What is known of a delivery that came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// It led to this task; `told` says that it is on record often enough.
    Task {
        task: TaskId,
        told: bool,
    },
    NotWanted {
        told: bool,
    },
}

impl Default for Memory {
    fn default() -> Self {
        Self { most: MOST, known: HashMap::new(), order: VecDeque::new() }
    }
}

/// How a delivery is known by what it says.
pub(super) fn by_body(body: Digest) -> String {
    format!("body:{body}")
}

/// How a delivery is known by what its sender calls it.
pub(super) fn by_id(id: &str) -> String {
    format!("id:{id}")
}

impl Memory {
    /// What the newest events of all triggers tell.
    pub(super) fn load(commands: &Commands) -> Result<Self, Error> {
        let mut memory = Self::default();
        for id in commands.triggers_on_record()?.into_iter().map(|row| row.history.id) {
            let most = u64::try_from(MOST).unwrap_or(u64::MAX);
            for event in commands.newest_of_trigger(id, most)? {
                if let TriggerEvent::Delivered { delivery, body, outcome } = event {
                    memory.take(id, delivery.as_deref(), body, &outcome);
                }
            }
        }
        Ok(memory)
    }

    /// Takes in what became of a delivery.
    ///
    /// Its sender's name for it counts only from where it opened a task: that name is not part of what is signed, and whoever
    /// sends an old request under a new name must not keep the real bearer of the name from being heard.
    pub(super) fn take(&mut self, trigger: TriggerId, id: Option<&str>, body: Digest, outcome: &Intake) {
        let (task, is_new) = match outcome {
            Intake::Task { task } => (Some(*task), true),
            Intake::Duplicate { task } => (Some(*task), false),
            Intake::NotWanted { .. } => (None, false),
            // Tried again, it may come to something else.
            Intake::Refused { .. } | Intake::Skipped { .. } => return,
        };
        self.note((trigger, by_body(body)), task);
        if let Some(id) = id.filter(|_| is_new) {
            self.note((trigger, by_id(id)), task);
        }
    }

    fn note(&mut self, mark: Mark, task: Option<TaskId>) {
        if let Some(known) = self.known.get_mut(&mark) {
            known.repeats = known.repeats.saturating_add(1);
            known.task = task.or(known.task);
            return;
        }
        self.known.insert(mark.clone(), Known { task, repeats: 0 });
        self.order.push_back(mark);
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(super) fn before(&self, trigger: TriggerId, mark: &str) -> Option<Before> {
        let known = self.known.get(&(trigger, mark.to_owned()))?;
        let told = known.repeats >= MOST_REPEATS;
        Some(known.task.map_or(Before::NotWanted { told }, |task| Before::Task { task, told }))
    }
}

#[cfg(test)]
mod tests {
    use longhaul_core::intake::trigger_id;

    use super::*;

    fn task(n: u8) -> TaskId {
        TaskId::from_bytes([n; 8])
    }

    #[test]
    fn the_same_is_known_and_after_some_repeats_nothing_more_is_told_of_it() {
        let (mut memory, hook) = (Memory::default(), trigger_id(None, "hook"));
        let body = Digest([1; 32]);
        assert_eq!(memory.before(hook, &by_body(body)), None);
        memory.take(hook, Some("a"), body, &Intake::Task { task: task(1) });
        for told in [false, false, false, true, true] {
            let before = Before::Task { task: task(1), told };
            assert_eq!(memory.before(hook, &by_body(body)), Some(before));
            memory.take(hook, Some("a"), body, &Intake::Duplicate { task: task(1) });
        }
        assert_eq!(memory.before(trigger_id(None, "other"), &by_body(body)), None);
    }

    #[test]
    fn a_name_that_came_with_an_old_request_is_still_free() {
        let (mut memory, hook) = (Memory::default(), trigger_id(None, "hook"));
        memory.take(hook, Some("a"), Digest([1; 32]), &Intake::Task { task: task(1) });
        memory.take(hook, Some("b"), Digest([1; 32]), &Intake::Duplicate { task: task(1) });
        assert!(memory.before(hook, &by_id("a")).is_some());
        assert_eq!(memory.before(hook, &by_id("b")), None);
    }

    #[test]
    fn what_was_not_wanted_once_may_be_wanted_later_and_what_is_oldest_is_forgotten() {
        let (mut memory, hook) = (Memory { most: 2, ..Memory::default() }, trigger_id(None, "hook"));
        let body = |n: u8| Digest([n; 32]);
        memory.take(hook, None, body(1), &Intake::NotWanted { because: "no label".into() });
        assert_eq!(memory.before(hook, &by_body(body(1))), Some(Before::NotWanted { told: false }));
        memory.take(hook, None, body(1), &Intake::Task { task: task(1) });
        assert!(matches!(memory.before(hook, &by_body(body(1))), Some(Before::Task { .. })));
        memory.take(hook, None, body(2), &Intake::Task { task: task(2) });
        memory.take(hook, None, body(3), &Intake::Task { task: task(3) });
        assert_eq!(memory.before(hook, &by_body(body(1))), None);
        memory.take(hook, None, body(4), &Intake::Skipped { because: "cap".into() });
        assert_eq!(memory.before(hook, &by_body(body(4))), None);
    }
}
