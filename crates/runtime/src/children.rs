//! Sessions that another session leads to: opened in one place, and never left behind when it is over.

use std::sync::Arc;

use longhaul_core::session::{NewBudget, Rejection, Session};
use longhaul_core::workflow::Workflow;
use longhaul_events::{Caps, Checkout, CloseOutcome, SessionId, Urgency};
use longhaul_store::views::SessionStatus;
use serde_json::{Map, Value};

use crate::commands::Commands;
use crate::commands::walking::StartSession;
use crate::error::Error;
use crate::queueing::told_brief;
use crate::runner::{Assignment, Whom};
use crate::stopping::Stop;
use crate::system::System;
use crate::workers::WORKER;

/// What a session wants done by another below it.
#[derive(Debug)]
pub(crate) struct NewChild {
    pub(crate) id: SessionId,
    pub(crate) workflow: Arc<Workflow>,
    pub(crate) goal: String,
    pub(crate) vars: Map<String, Value>,
    /// None where an agent that we do not drive does it.
    pub(crate) assignment: Option<Assignment>,
    pub(crate) caps: Caps,
    /// Where its commands count as being run from.
    pub(crate) checkout: Option<Checkout>,
    /// What its agent is told before the first step.
    pub(crate) brief: Option<String>,
}

impl Commands {
    /// Opens a session below another one, and says who does it. It belongs to the same task and workspace, and is as tainted as
    /// what led to it. Nobody drives it yet.
    pub(crate) fn open_child(&self, parent: &Session, new: NewChild) -> Result<SessionId, Error> {
        let NewChild { id, workflow, goal, vars, assignment, caps, checkout, brief } = new;
        let (workspace, above) = (parent.workspace, Some(parent.id));
        let told = self.told_to_task_of(parent)?;
        let told_brief = told_brief(&told);
        let brief = brief.into_iter().chain(told_brief).reduce(|one, other| format!("{one}\n\n{other}"));
        let start =
            StartSession { workflow, goal, vars, workspace, checkout, parent: above, warnings: Vec::new() };
        self.start_session_as(id, &start, brief.as_deref())?;
        if let Some(assignment) = assignment {
            self.assign_child(parent, id, &assignment, caps)?;
            self.tell_meanwhile(parent, id, told.len())?;
        }
        Ok(id)
    }

    /// What a person said while the session was being opened. Whoever said it did not see the session yet.
    fn tell_meanwhile(&self, parent: &Session, child: SessionId, heard: usize) -> Result<(), Error> {
        for words in self.told_to_task_of(parent)?.iter().skip(heard) {
            match self.tell_session(child, words, &by(parent.id)) {
                Ok(()) | Err(Error::Session(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What people said to the task of a session.
    fn told_to_task_of(&self, session: &Session) -> Result<Vec<String>, Error> {
        self.task_of(session)?.map_or_else(|| Ok(Vec::new()), |task| self.told_to(&task))
    }

    /// Says who does a session below another one.
    pub(crate) fn assign_child(
        &self,
        parent: &Session,
        child: SessionId,
        assignment: &Assignment,
        caps: Caps,
    ) -> Result<(), Error> {
        let by = by(parent.id);
        let budget = NewBudget { caps, by: by.clone() };
        self.assign(child, assignment, parent.taint, &budget).inspect_err(|error| {
            // Nobody would ever go on with it.
            let outcome = CloseOutcome::Cancelled { by, reason: Some(error.to_string()) };
            let _ = self.close_session(child, &outcome, None);
        })
    }
}

impl System {
    /// Ends the workers of a session that are still open, whoever drives them. Their answers are wanted by nobody any more.
    pub(crate) fn end_workers(&self, commands: &Commands, id: SessionId, because: &str) -> Result<(), Error> {
        let Some(reader) = commands.reader() else { return Ok(()) };
        let is_meant = |parent, workflow: Option<&str>| parent == Some(id) && workflow == Some(WORKER);
        for row in reader.sessions()? {
            if row.status == SessionStatus::Open && is_meant(row.parent, row.workflow.as_deref()) {
                self.end_child(commands, id, row.id, because)?;
            }
        }
        Ok(())
    }

    /// Ends all sessions below one that are still open, whoever drives them, and those below them.
    pub(crate) fn end_below(&self, commands: &Commands, id: SessionId, because: &str) -> Result<(), Error> {
        let Some(reader) = commands.reader() else { return Ok(()) };
        for row in reader.sessions()? {
            if row.status == SessionStatus::Open && row.parent == Some(id) {
                self.end_child(commands, id, row.id, because)?;
            }
        }
        Ok(())
    }

    /// Ends a session below another one, with all that runs for it.
    pub(crate) fn end_child(
        &self,
        commands: &Commands,
        parent: SessionId,
        child: SessionId,
        because: &str,
    ) -> Result<(), Error> {
        let stop = Stop { urgency: Urgency::Now, by: by(parent), reason: Some(because.to_owned()) };
        match commands.request_stop(child, &stop) {
            Ok(()) => self.end(commands, child, Whom::Everybody),
            Err(Error::Session(Rejection::Closed)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// What a session does to those below it is done by itself.
pub(crate) fn by(parent: SessionId) -> String {
    format!("session {parent}")
}
