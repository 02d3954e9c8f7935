//! What a person says to whoever works on a task: on record for the task, and heard by its sessions.

use longhaul_core::session::{At, Rejection};
use longhaul_events::{SessionId, TaskId};
use longhaul_store::views::SessionStatus;

use crate::commands::Commands;
use crate::error::{DrivenError, Error};
use crate::runner::is_driven;
use crate::steering::MOST_BYTES;
use crate::system::System;
use crate::terminal;

/// What was told to a task, and who hears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldTask {
    pub task: TaskId,
    /// The sessions that are open. What is opened for the task later is told when it begins.
    pub heard_by: Vec<(SessionId, Hearing)>,
}

/// When a session hears what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// Its agent has a step, and hears it with its next turn.
    NextTurn,
    /// It waits for something, and its agent hears it with its next step.
    NextStep,
}

impl System {
    /// Says something to whoever works on a task, now or later. It changes no policy and takes up nothing that is parked. A
    /// person's to do.
    pub fn tell(&self, commands: &Commands, task: TaskId, words: &str) -> Result<ToldTask, Error> {
        terminal::refuse_agents()?;
        let words = check_words(words)?;
        // First on record for the task: whoever is opened from now on is told by that.
        commands.tell_task(task, words, &terminal::user_name())?;
        let mut heard_by = Vec::new();
        let Some(reader) = commands.reader() else { return Ok(ToldTask { task, heard_by }) };
        for row in reader.find_task(&task.to_string())?.sessions {
            if row.status == SessionStatus::Open && row.damage.is_none() {
                let hearing = self.tell_session(commands, row.id, words)?;
                heard_by.extend(hearing.map(|hearing| (row.id, hearing)));
            }
        }
        Ok(ToldTask { task, heard_by })
    }

    /// Says something to the agent of one session; none if it has no agent of ours, or is over.
    pub(super) fn tell_session(
        &self,
        commands: &Commands,
        id: SessionId,
        words: &str,
    ) -> Result<Option<Hearing>, Error> {
        match commands.tell_session(id, words, &terminal::user_name()) {
            Ok(()) => {}
            Err(Error::Session(
                Rejection::NotDriven
                | Rejection::NobodyListens
                | Rejection::Closed
                | Rejection::Cancelled
                | Rejection::Stopping { .. },
            )) => return Ok(None),
            Err(error) => return Err(error),
        }
        let session = commands.load_session(id)?;
        let has_step = matches!(session.at, At::Step(_));
        if has_step && !is_driven(&session) {
            self.start_runner(id)?;
        }
        Ok(Some(if has_step { Hearing::NextTurn } else { Hearing::NextStep }))
    }
}

/// What can be said at once.
pub(super) fn check_words(words: &str) -> Result<&str, Error> {
    let words = words.trim();
    if words.is_empty() {
        return Err(Error::Driven(DrivenError::NothingToSay));
    }
    if words.len() > MOST_BYTES {
        return Err(Error::Driven(DrivenError::TooMuchToSay(words.len())));
    }
    Ok(words)
}
