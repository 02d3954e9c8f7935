//! Waiting for sessions from outside, and what they came to: for coordinators that people write themselves.

use std::time::{Duration, Instant};

use longhaul_core::outcome::Outcome;
use longhaul_core::session::Session;
use longhaul_events::SessionId;
use longhaul_store::watch::Watcher;
use serde_json::Value;

use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;

const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What a session came to, as far as somebody waited for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Awaited {
    pub session: SessionId,
    /// None if it went on beyond the time that somebody had.
    pub outcome: Option<Outcome>,
    /// What the last of its steps that hands something in handed in.
    pub result: Value,
}

impl System {
    /// Waits until a session goes no further by itself, or until somebody has no more time.
    pub fn await_session(
        &self,
        commands: &Commands,
        id: SessionId,
        until: Option<Instant>,
    ) -> Result<Awaited, Error> {
        let has_time = || until.is_none_or(|until| Instant::now() < until);
        let session = commands.load_session(id)?;
        // Whoever drives the session above drives what works in its files, so nobody else is started for it.
        let is_led = session.parent.is_some() && session.workplace.is_none();
        if session.agent.is_some() && !is_led {
            self.follow(commands, id, &mut || has_time())?;
        } else {
            let mut watcher = Watcher::polling(&self.places().data)?;
            while commands.halted(&commands.load_session(id)?)?.is_none() && has_time() {
                watcher.wait(LOOK_EVERY)?;
            }
        }
        let session = commands.load_session(id)?;
        let result = match session.workflow {
            Some(_) => commands.result_of(&session)?,
            None => Value::Null,
        };
        Ok(Awaited { session: id, outcome: commands.halted(&session)?, result })
    }
}

impl Commands {
    /// How a session came out, or for what it or one below it waits; `None` while it goes on.
    fn halted(&self, session: &Session) -> Result<Option<Outcome>, Error> {
        match session.outcome() {
            Some(outcome) => Ok(Some(outcome)),
            None => Ok(self.waits_for(session.id)?.and_then(|waits| waits.outcome)),
        }
    }
}
