//! A task in a list.

use longhaul_core::task::Task;
use longhaul_events::{Seq, TaskEvent, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use super::shown;
use crate::log::Decision;

/// What the log says of a task. How it is doing is told from the sessions of its attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    pub id: TaskId,
    pub seq: Seq,
    /// As a list shows it.
    pub goal: String,
    /// None until its first event was read.
    pub task: Option<Task>,
    pub opened_at: Timestamp,
    pub updated_at: Timestamp,
    pub damage: Option<String>,
}

impl TaskRow {
    pub(super) fn new(id: TaskId, at: Timestamp) -> Self {
        Self { id, seq: Seq(0), goal: String::new(), task: None, opened_at: at, updated_at: at, damage: None }
    }

    pub(super) fn take(&mut self, decision: &Decision) -> Result<(), String> {
        let events: Vec<TaskEvent> = decision.events().map_err(|error| error.to_string())?;
        for event in &events {
            match &mut self.task {
                Some(task) => task.apply(event),
                None => self.begin(event)?,
            }
        }
        self.seq = decision.last_seq();
        self.updated_at = decision.at;
        Ok(())
    }

    fn begin(&mut self, first: &TaskEvent) -> Result<(), String> {
        let task = Task::begin(self.id, first).ok_or("its first event does not open it")?;
        self.goal = shown(&task.goal);
        self.task = Some(task);
        Ok(())
    }
}
