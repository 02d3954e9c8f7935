//! Bringing files back when a person has taken a session back: whoever drove it is ended first.

use longhaul_core::session::Rejection;
use longhaul_events::SessionId;

use super::leftovers::{self, SessionLabel, this_process};
use super::rest::AtRest;
use super::watch::Stopwatch;
use super::{Driven, LEASE_MS, StopSwitch};
use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use crate::worktrees::RestoredWorktree;

impl System {
    /// Puts the files of a session's own checkout in place as a rewind wants them, and says so; `None` if it wants
    /// nothing. What fails or is cut short here is done by whoever drives next.
    pub(super) fn files_back(&self, commands: &Commands, id: SessionId) -> Result<Option<String>, Error> {
        let due = commands.load_session(id)?.workplace.and_then(|workplace| workplace.due);
        if due.is_none() {
            return Ok(None);
        }
        let label = &SessionLabel::of(id, &self.places().data)?;
        let epoch = match commands.take_driver(id, &this_process(), LEASE_MS) {
            Ok(epoch) => epoch,
            Err(Error::Session(Rejection::Driven { .. })) => {
                return Ok(Some("whoever drives the session now brings its files back first".to_owned()));
            }
            Err(error) => return Err(error),
        };
        let stopwatch = Stopwatch::start_or_let_go(commands, id, epoch)?;
        let (sandbox, setup, owner) = (None, &[][..], Some(id));
        let at_rest = AtRest::GoesOn;
        let driven =
            Driven { system: self, commands, id, epoch, label, sandbox, stopwatch, setup, owner, at_rest };
        let back = driven.keeping_lease(&StopSwitch::default(), || {
            leftovers::end(commands, id, driven.latest())?;
            self.bring_back(commands, id)
        });
        driven.let_go()?;
        Ok(back?.map(|back| in_words(id, &back)))
    }
}

fn in_words(id: SessionId, back: &RestoredWorktree) -> String {
    let now = format!("the files in {} are as they were when the step began", back.path);
    match &back.before {
        Some(before) => {
            format!("{now}; `longhaul worktree restore {before} --worktree {id}` brings back what was there")
        }
        None => now,
    }
}
