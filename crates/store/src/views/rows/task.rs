//! A task in a list.

use longhaul_core::task::Task;
use longhaul_events::{Seq, TaskEvent, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use super::shown;
use crate::log::Decision;

/// No task has so many that are still of interest.
const MOST_SETTLED: usize = 200;

/// What the log says of a task. How it is doing is told from the sessions of its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    pub id: TaskId,
    pub seq: Seq,
    /// As a list shows it.
    pub goal: String,
    /// None until its first event was read.
    pub task: Option<Task>,
    /// The entries of the inbox that a person settled, the newest last.
    pub settled: Vec<String>,
    pub opened_at: Timestamp,
    pub updated_at: Timestamp,
    pub damage: Option<String>,
}

impl TaskRow {
    pub(super) fn new(id: TaskId, at: Timestamp) -> Self {
        let (goal, settled) = (String::new(), Vec::new());
        Self { id, seq: Seq(0), goal, task: None, settled, opened_at: at, updated_at: at, damage: None }
    }

    pub(super) fn take(&mut self, decision: &Decision) -> Result<(), String> {
        let events: Vec<TaskEvent> = decision.events().map_err(|error| error.to_string())?;
        for event in &events {
            match &mut self.task {
                Some(task) => task.apply(event),
                None => self.begin(event)?,
            }
            self.settle(event);
        }
        self.seq = decision.last_seq();
        self.updated_at = decision.at;
        Ok(())
    }

    fn settle(&mut self, event: &TaskEvent) {
        let TaskEvent::Replied { entry, .. } = event else { return };
        if self.settled.len() >= MOST_SETTLED {
            self.settled.remove(0);
        }
        self.settled.push(entry.clone());
    }

    fn begin(&mut self, first: &TaskEvent) -> Result<(), String> {
        let task = Task::begin(self.id, first).ok_or("its first event does not open it")?;
        self.goal = shown(&task.goal);
        self.task = Some(task);
        Ok(())
    }
}
