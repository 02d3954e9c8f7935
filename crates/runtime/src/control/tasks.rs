//! Tasks as a whole, for whoever is not in the folder of their repository.

use longhaul_core::task::TaskState;
use longhaul_events::{SessionId, Urgency};

use super::Control;
use crate::error::{Error, TaskError};
use crate::queueing::place_of;
use crate::reader::{Reader, TaskView};
use crate::stopping::Stop;
use crate::tasks::Again;

/// What a wish to try again came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retried {
    /// It waits for its turn again.
    Queued,
    Started(SessionId),
    /// Somebody else does its steps, as before.
    Handed,
}

/// The task that a text names.
pub fn find_task(reader: Option<&Reader>, text: &str) -> Result<TaskView, Error> {
    let missing = || Error::from(TaskError::NoSuch(text.chars().take(80).collect()));
    reader.ok_or_else(missing)?.find_task(text)
}

impl Control<'_> {
    pub fn task(&self, text: &str) -> Result<TaskView, Error> {
        find_task(self.commands.reader().as_ref(), text)
    }

    /// Ends a task with its whole tree.
    pub fn cancel(&self, view: &TaskView, urgency: Urgency, because: Option<&str>) -> Result<(), Error> {
        let by = self.caller.person()?;
        let stop = Stop { urgency, by, reason: because.map(str::to_owned) };
        self.system.cancel_task(self.commands, view.id, &stop)
    }

    /// Has a task tried again: one that came through the queue waits for its turn, any other starts now.
    pub fn retry(&self, view: &TaskView, because: Option<&str>) -> Result<Retried, Error> {
        let by = self.caller.person()?;
        if view.task.orders.is_some() {
            let because = because.unwrap_or("somebody wants it tried again");
            // What is left of the attempt before must not go on beside the new one.
            if matches!(view.state, TaskState::Over(_) | TaskState::HandedOver(_)) {
                self.system.end_before(self.commands, view)?;
            }
            self.commands.requeue(view.id, because, self.commands.now(), &by)?;
            return Ok(Retried::Queued);
        }
        let located = self.system.repository_of_task(&view.task)?;
        let here = self.system.standing_in(&place_of(&located));
        match here.retry_task(self.commands, view, because)? {
            Again::Driven(drive) => Ok(Retried::Started(drive.session)),
            Again::Handed(_) => Ok(Retried::Handed),
        }
    }
}
