//! Ending sessions with all that runs for them: on somebody's word, whoever drives them and however badly that is doing.

use std::time::{Duration, Instant};

use longhaul_core::session::{Rejection, Session, StopWish};
use longhaul_core::workflow::answer::judge_text;
use longhaul_events::{CloseOutcome, SessionId, Urgency};
use longhaul_store::watch::Watcher;

use crate::commands::Commands;
use crate::error::Error;
use crate::runner::leftovers::{self, Whom};
use crate::runner::{SessionLabel, is_driven};
use crate::system::System;
use crate::terminal;

/// How long a call that is under way may go on before it is ended.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// How long a runner has beyond that to end what it started and to keep the files.
const SETTLE: Duration = Duration::from_secs(8);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A wish that a session be ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub urgency: Urgency,
    pub by: String,
    pub reason: Option<String>,
}

impl System {
    /// Ends a session and all that runs for it, and returns when that is seen to be so. A person's to do.
    pub fn stop(&self, commands: &Commands, id: SessionId, stop: &Stop) -> Result<(), Error> {
        terminal::refuse_agents()?;
        let reasons = judge_text("the reason", stop.reason.as_deref().unwrap_or_default());
        if !reasons.is_empty() {
            return Err(Error::BadAnswer(reasons));
        }
        commands.request_stop(id, stop)?;
        self.await_end(commands, id)?;
        self.go_on_above(commands, id)
    }

    /// Gives up a session that no agent of ours does, with all below it. A person's to do.
    pub fn cancel(&self, commands: &Commands, id: SessionId, stop: &Stop) -> Result<(), Error> {
        commands.cancel_session(id, &stop.by, stop.reason.as_deref())?;
        self.end_below(commands, id, &format!("stopped by {}", stop.by))?;
        self.go_on_above(commands, id)
    }

    /// The same for many, which end side by side. Those that have ended meanwhile are left alone, and one that cannot be
    /// stopped keeps none of the others: what was wrong first is told when they have ended.
    pub fn stop_all(&self, commands: &Commands, ids: &[SessionId], stop: &Stop) -> Result<(), Error> {
        terminal::refuse_agents()?;
        let asked = ids.iter().map(|id| match commands.request_stop(*id, stop) {
            Ok(()) | Err(Error::Session(Rejection::Closed)) => Ok(*id),
            Err(error) => Err(error),
        });
        let asked: Vec<Result<SessionId, Error>> = asked.collect();
        let ended = asked.into_iter().map(|asked| {
            let id = asked?;
            self.await_end(commands, id)?;
            self.go_on_above(commands, id)
        });
        let ended: Vec<Result<(), Error>> = ended.collect();
        ended.into_iter().collect()
    }

    fn await_end(&self, commands: &Commands, id: SessionId) -> Result<(), Error> {
        let mut watcher = Watcher::polling(&self.places().data)?;
        let asked = Instant::now();
        loop {
            let session = commands.load_session(id)?;
            if session.closed.is_some() {
                return Ok(());
            }
            if !self.see_to_stop(commands, &session, asked.elapsed())? {
                watcher.wait(LOOK_EVERY)?;
            }
        }
    }

    /// Ends a session whose end was wished for so long ago, unless its driver is about to. Says whether it did.
    pub(crate) fn see_to_stop(
        &self,
        commands: &Commands,
        session: &Session,
        since: Duration,
    ) -> Result<bool, Error> {
        let Some(StopWish { urgency, .. }) = session.stop else { return Ok(false) };
        let patience = match urgency {
            Urgency::AfterGrace => GRACE + SETTLE,
            Urgency::Now => SETTLE,
        };
        if is_driven(session) && since < patience {
            return Ok(false);
        }
        self.end(commands, session.id, Whom::Everybody).map(|()| true)
    }

    /// Keeps the files, ends what runs, sees it dead, and closes the session. Any number may do it at once.
    pub(crate) fn end(&self, commands: &Commands, id: SessionId, whom: Whom) -> Result<(), Error> {
        let session = commands.load_session(id)?;
        let Some(StopWish { by, reason, .. }) = session.stop.filter(|_| session.closed.is_none()) else {
            return Ok(());
        };
        let because = format!("stopped by {by}");
        self.end_below(commands, id, &because)?;
        self.keep_if_possible(commands, id, &because);
        let label = SessionLabel::of(id, &self.places().data)?;
        let ended = leftovers::end_all(&label, whom)?;
        if ended > 0 {
            self.keep_if_possible(commands, id, &because);
        }
        self.clear_verifications(id)?;
        match commands.close_session(id, &CloseOutcome::Cancelled { by, reason }, None) {
            // Somebody else has done the same.
            Ok(()) | Err(Error::Session(Rejection::Closed)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The files stay where they are, so one that cannot be kept is no reason to leave a session running.
    fn keep_if_possible(&self, commands: &Commands, id: SessionId, because: &str) {
        if let Err(error) = self.keep_worktree(commands, id, because) {
            tracing::warn!(%error, session = %id, "could not keep the files of a session that is stopped");
        }
    }

    /// Passes on what a person at the terminal wants: the first Ctrl-C stops the session that they follow, the second at
    /// once. Says what is new.
    pub fn heed_interrupts(
        &self,
        commands: &Commands,
        id: SessionId,
        heeded: &mut u32,
    ) -> Result<Option<Urgency>, Error> {
        let caught = terminal::interrupts();
        if caught <= *heeded {
            return Ok(None);
        }
        *heeded = caught;
        let urgency = if caught == 1 { Urgency::AfterGrace } else { Urgency::Now };
        let stop = Stop { urgency, by: terminal::user_name(), reason: None };
        match commands.request_stop(id, &stop) {
            Ok(()) => Ok(Some(urgency)),
            // It ended while the key was pressed.
            Err(Error::Session(Rejection::Closed)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::NewWalk;
    use crate::places::Places;
    use crate::system::Settings;

    const WORKFLOW: &str =
        "longhaul: 1\nid: team.fix\nname: Fix\nversion: 1.0.0\nsteps:\n  - { id: look, prompt: Look. }\n";

    #[test]
    fn one_that_cannot_be_stopped_keeps_none_of_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let (home, directory) = (folder.path().join("home"), folder.path().join("work"));
        std::fs::create_dir_all(home.join("config/workflows")).unwrap();
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(home.join("config/workflows/team.fix.yml"), WORKFLOW).unwrap();
        let settings = Settings {
            places: Places::under(&home),
            variables: BTreeMap::new(),
            directory,
            flags: Vec::new(),
        };
        let system = System::new(settings);
        let commands = system.commands().unwrap();
        let begin = |goal: &str| -> SessionId {
            let walk =
                NewWalk { workflow: "team.fix".into(), goal: goal.into(), vars: serde_json::Map::new() };
            system.begin(&commands, walk).unwrap().session_id.parse().unwrap()
        };
        let (first, last) = (begin("a"), begin("b"));
        let unknown: SessionId = "s-0123456789abc".parse().unwrap();
        let stop = Stop { urgency: Urgency::Now, by: "ada".to_owned(), reason: None };
        let refused = system.stop_all(&commands, &[first, unknown, last], &stop).unwrap_err();
        assert!(matches!(refused, Error::UnknownSession(id) if id == unknown), "{refused}");
        for id in [first, last] {
            assert!(commands.load_session(id).unwrap().closed.is_some());
        }
    }
}
