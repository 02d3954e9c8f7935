//! What a person says to an agent that we drive, in the middle of its step.

use longhaul_events::SessionId;

use crate::commands::Commands;
use crate::error::{DrivenError, Error};
use crate::runner::is_driven;
use crate::system::System;
use crate::terminal;

/// An agent reads it whole with its next turn.
pub(crate) const MOST_BYTES: usize = 16 * 1024;

impl System {
    /// Says something to the agent; it hears it with its next turn. Whoever drives the session goes on with it, and if
    /// nobody does, somebody is started.
    pub fn steer(&self, commands: &Commands, id: SessionId, words: &str) -> Result<(), Error> {
        terminal::refuse_agents()?;
        let words = words.trim();
        if words.is_empty() {
            return Err(Error::Driven(DrivenError::NothingToSay));
        }
        if words.len() > MOST_BYTES {
            return Err(Error::Driven(DrivenError::TooMuchToSay(words.len())));
        }
        commands.steer(id, words, &terminal::user_name())?;
        let session = commands.load_session(id)?;
        if !is_driven(&session) {
            self.start_runner(id)?;
        }
        Ok(())
    }
}
