//! Sessions that another session leads to: opened in one place, and never left behind when it is over.

use std::sync::Arc;

use longhaul_core::session::{NewBudget, Rejection, Session};
use longhaul_core::workflow::Workflow;
use longhaul_events::{Caps, CloseOutcome, SessionId, Urgency};
use longhaul_store::views::SessionStatus;
use serde_json::Map;

use crate::commands::Commands;
use crate::commands::walking::StartSession;
use crate::error::Error;
use crate::runner::{Assignment, Whom};
use crate::stopping::Stop;
use crate::system::System;
use crate::workers::WORKER;

/// What a session wants done by another below it.
#[derive(Debug)]
pub(crate) struct NewChild {
    pub(crate) workflow: Arc<Workflow>,
    pub(crate) goal: String,
    pub(crate) assignment: Assignment,
    pub(crate) caps: Caps,
}

impl Commands {
    /// Opens a session below another one, and says who does it. It belongs to the same task and workspace, and is as tainted as
    /// what led to it. Nobody drives it yet.
    pub(crate) fn open_child(&self, parent: &Session, new: NewChild) -> Result<SessionId, Error> {
        let NewChild { workflow, goal, assignment, caps } = new;
        let view = self.start_session(&StartSession {
            workflow,
            goal,
            vars: Map::new(),
            workspace: parent.workspace,
            checkout: None,
            parent: Some(parent.id),
            warnings: Vec::new(),
        })?;
        let child: SessionId = view.session_id.parse().expect("a session is shown with its id");
        let by = by(parent.id);
        let budget = NewBudget { caps, by: by.clone() };
        self.assign(child, &assignment, parent.taint, &budget).inspect_err(|error| {
            // Nobody would ever go on with it.
            let outcome = CloseOutcome::Cancelled { by, reason: Some(error.to_string()) };
            let _ = self.close_session(child, &outcome, None);
        })?;
        Ok(child)
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
