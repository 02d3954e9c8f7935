//! Sessions that an agent of ours drives: started in a worktree of their own, followed, and judged at their end.

use std::time::Duration;

use longhaul_agent::{Agent as _, Rehearsal, TurnRequest};
use longhaul_core::cassette;
use longhaul_core::session::{At, Session};
use longhaul_core::walk::view::StepView;
use longhaul_events::{AgentAct, CheckoutKind, SessionId};
use longhaul_store::watch::Watcher;
use serde_json::json;

use crate::commands::Commands;
use crate::error::Error;
use crate::runner::{Assignment, Walled, is_dead};
use crate::starting::NewWalk;
use crate::system::System;
use crate::worktrees::{NewWorktree, SecretFiles};

/// How often somebody who follows looks without having been told.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What somebody wants done by an agent of ours.
#[derive(Debug, Clone)]
pub struct NewDrive {
    pub walk: NewWalk,
    /// The script, and what its file is called.
    pub cassette: Script,
    pub walls: Walled,
    /// The branch to start from.
    pub base: Option<String>,
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub path: String,
    pub text: String,
}

/// A session that is under way.
#[derive(Debug, Clone)]
pub struct Drive {
    pub session: SessionId,
    pub worktree: String,
    pub branch: String,
    pub warnings: Vec<String>,
}

impl System {
    /// Starts a session in a worktree of its own, and somebody who drives it and outlives this process.
    pub fn drive(&self, commands: &Commands, new: NewDrive) -> Result<Drive, Error> {
        cassette::parse(&new.cassette.path, &new.cassette.text)?;
        let start = self.prepared(commands, new.walk)?;
        let view = commands.start_session(&start)?;
        let session: SessionId = view.session_id.parse().expect("a session is shown with its id");
        let worktree = NewWorktree {
            session,
            kind: CheckoutKind::Borrowed,
            base: new.base,
            secrets: SecretFiles::Give,
            by: new.by,
        };
        let made = self.make_worktree(commands, &worktree)?;
        let Script { path, text } = new.cassette;
        let setup = self.config()?.checkout.setup;
        let assignment = Assignment { cassette: text, path, level: new.walls, setup };
        commands.assign(session, "rehearsal", &json!(assignment))?;
        self.start_runner(session)?;
        let mut warnings = view.warnings;
        warnings.extend(made.warnings);
        Ok(Drive { session, worktree: made.checkout.path, branch: made.checkout.branch, warnings })
    }

    /// Waits until a driven session goes no further by itself, and starts its runner again if that has died. `tell` is
    /// called whenever something may have changed, and says whether to go on waiting.
    pub fn follow(
        &self,
        commands: &Commands,
        id: SessionId,
        tell: &mut dyn FnMut() -> bool,
    ) -> Result<StepView, Error> {
        let mut watcher = Watcher::polling(&self.places().data)?;
        loop {
            let session = commands.load_session(id)?;
            if !goes_on(&session) || !tell() {
                return commands.session_view(id);
            }
            let is_driven = session.lease.as_ref().is_some_and(|lease| !is_dead(&lease.driver));
            if !is_driven {
                self.start_runner(id)?;
            }
            watcher.wait(LOOK_EVERY)?;
        }
    }

    /// Whether the script of a rehearsal was played to its end; `None` for sessions without one.
    pub fn rehearsal_end(&self, commands: &Commands, id: SessionId) -> Result<Option<String>, Error> {
        let Some(AgentAct::Assigned { settings, .. }) = commands.assigned(id)? else { return Ok(None) };
        let settings = commands.shared_value(&settings)?;
        let Some(text) = settings["cassette"].as_str() else { return Ok(None) };
        let path = settings["path"].as_str().unwrap_or("the cassette");
        let mut agent = Rehearsal::new(cassette::parse(path, text)?);
        commands.each_turn(id, |asked, talk| {
            let _ = agent.turn(&TurnRequest { asked, answers: &talk.last_answers(), told: &[] });
        })?;
        Ok(agent.end().err())
    }
}

/// Whether a runner has something to do.
fn goes_on(session: &Session) -> bool {
    match session.at {
        At::Step(_) | At::Work(_) => session.closed.is_none(),
        At::Gate(_) | At::Parked(_) | At::Nothing => false,
    }
}
