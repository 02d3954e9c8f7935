//! What an intake looks up: whether a task is there, what came to a trigger lately, which tasks are for what.

use longhaul_events::{Position, Seq, StreamId, TaskEvent, TaskId, Timestamp, TriggerEvent, TriggerId};
use longhaul_store::views::TriggerRow;

use super::Commands;
use crate::error::{Error, TaskError};

/// How many decisions are read at a time.
const BATCH: usize = 500;

/// A task that was opened, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedFor {
    pub(crate) task: TaskId,
    pub(crate) source: String,
}

impl Commands {
    pub(crate) fn has_task(&self, id: TaskId) -> Result<bool, Error> {
        Ok(self.recorder.log.head(id.into())?.is_some())
    }

    /// Whether anything of a task may still happen. One that is not here is not open.
    pub(crate) fn is_task_open(&self, id: TaskId) -> Result<bool, Error> {
        match self.load_task(id) {
            Ok(task) => Ok(self.task_state(&task)?.is_open()),
            Err(Error::Task(TaskError::NoSuch(_))) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The triggers of which anything is on record.
    pub(crate) fn triggers_on_record(&self) -> Result<Vec<TriggerRow>, Error> {
        let Some(views) = &self.views else { return Ok(Vec::new()) };
        let rows = views.triggers(&*self.recorder.log)?.into_iter();
        Ok(rows.filter(|row| row.damage.is_none()).collect())
    }

    /// The newest events of a trigger, no more than so many, the oldest first.
    pub(crate) fn newest_of_trigger(&self, id: TriggerId, most: u64) -> Result<Vec<TriggerEvent>, Error> {
        let stream = StreamId::from(id);
        let Some(head) = self.recorder.log.head(stream)? else { return Ok(Vec::new()) };
        let mut after = Seq(head.seq.0.saturating_sub(most));
        let mut events = Vec::new();
        loop {
            let decisions = self.recorder.log.read(stream, after, BATCH)?;
            for decision in &decisions {
                events.extend(decision.readable_events::<TriggerEvent>()?);
                after = decision.last_seq();
            }
            if decisions.len() < BATCH {
                return Ok(events);
            }
        }
    }

    /// When the first event of a trigger was written.
    pub(crate) fn trigger_named_at(&self, id: TriggerId) -> Result<Option<Timestamp>, Error> {
        let first = self.recorder.log.read(id.into(), Seq(0), 1)?;
        Ok(first.first().map(|decision| decision.at))
    }

    pub(crate) fn last_position(&self) -> Result<Position, Error> {
        Ok(self.recorder.log.last_position()?)
    }

    /// The tasks that were opened after a position, and how far that looked. What is damaged is somebody else's to tell.
    pub(crate) fn tasks_since(&self, after: Position) -> Result<(Vec<OpenedFor>, Position), Error> {
        let (mut opened, mut position) = (Vec::new(), after);
        loop {
            let decisions = self.recorder.log.since(position, BATCH)?;
            let is_last = decisions.len() < BATCH;
            for decision in decisions {
                let decision = match decision {
                    Ok(decision) => decision,
                    Err(damaged) => {
                        position = damaged.position;
                        continue;
                    }
                };
                position = decision.position;
                let Ok(StreamId::Task(task)) = decision.stream.parse::<StreamId>() else { continue };
                if decision.seq != Seq(1) {
                    continue;
                }
                if let Ok(events) = decision.events::<TaskEvent>()
                    && let Some(TaskEvent::Opened { source, .. }) = events.into_iter().next()
                {
                    opened.push(OpenedFor { task, source });
                }
            }
            if is_last {
                return Ok((opened, position));
            }
        }
    }
}
