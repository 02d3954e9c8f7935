//! One more attempt at a task that failed, could not be done, or was cancelled.

use longhaul_core::session::Session;
use longhaul_core::task::TaskState;
use longhaul_core::walk::view::StepView;
use longhaul_events::{SessionId, TaskId, Urgency};
use longhaul_forge::{Forge as _, LocalForge, Pull, PullState};
use longhaul_store::views::SessionStatus;

use crate::commands::Commands;
use crate::commands::task::TaskWish;
use crate::commands::walking::StartSession;
use crate::driving::{Drive, SetOff};
use crate::error::{Error, TaskError};
use crate::forge::ForgeError;
use crate::queueing::Turn;
use crate::reader::TaskView;
use crate::starting::NewWalk;
use crate::stopping::Stop;
use crate::system::System;
use crate::terminal;
use crate::workspaces;

/// A new attempt that is under way.
#[derive(Debug)]
pub enum Again {
    /// An agent of ours does it.
    Driven(Drive),
    /// Somebody else does its steps, as before.
    Handed(Box<StepView>),
}

impl System {
    /// Starts another root session for a task: the same goal and pipeline, done by the same agent behind the same walls, from
    /// the newest commit. A person's to do.
    pub fn retry_task(
        &self,
        commands: &Commands,
        view: &TaskView,
        because: Option<&str>,
    ) -> Result<Again, Error> {
        terminal::refuse_agents()?;
        super::check_because(because)?;
        if view.state == TaskState::Queued || (view.task.attempts.is_empty() && view.task.orders.is_some()) {
            let (by, because) = (terminal::user_name(), because.map(str::to_owned));
            let drive = self.start_queued(commands, &Turn { task: view.id, by, because })?;
            return Ok(Again::Driven(drive));
        }
        let before = view.root.as_ref().ok_or(TaskError::NoSuch(view.id.to_string()))?;
        self.refuse_elsewhere(view)?;
        let last = commands.load_session(before.id)?;
        self.refuse_beside_pull(view, &last)?;
        self.end_before(commands, view)?;
        let start = self.start_again(commands, view, &last)?;
        let by = terminal::user_name();
        let wish = TaskWish::Again { task: view.id, by: by.clone(), because: because.map(str::to_owned) };
        if last.agent.is_none() {
            let shown = self.start_session_for(commands, &start, &wish)?;
            return Ok(Again::Handed(Box::new(shown)));
        }
        let shown = commands.start_session_for(&start, &wish)?;
        let id: SessionId = shown.session_id.parse().expect("a session is shown with its id");
        let set_off = self.set_off_again(commands, view, &last, id);
        let mut drive = set_off.inspect_err(|error| {
            // Nobody would ever go on with it.
            let _ = commands.cancel_session(id, &by, Some(&error.to_string()));
        })?;
        drive.warnings.splice(0..0, shown.warnings);
        Ok(Again::Driven(drive))
    }

    /// A session that failed may still be open. It does not go on beside the new one.
    pub(crate) fn end_before(&self, commands: &Commands, view: &TaskView) -> Result<(), Error> {
        if !matches!(view.state, TaskState::Over(_) | TaskState::HandedOver(_)) {
            // The core says no, and why, when the attempt is decided.
            return Ok(());
        }
        // Only those that were seen: what somebody else has begun meanwhile is not ours to end.
        let open = view.sessions.iter().filter(|row| row.status == SessionStatus::Open);
        let open: Vec<SessionId> = open.map(|row| row.id).collect();
        let reason = Some("another attempt is made".to_owned());
        let stop = Stop { urgency: Urgency::Now, by: terminal::user_name(), reason };
        self.stop_all(commands, &open, &stop)
    }

    /// A change of an earlier attempt that still waits to be merged would get a second one beside it.
    fn refuse_beside_pull(&self, view: &TaskView, last: &Session) -> Result<(), Error> {
        let forge = match self.find_forge(None, LocalForge::OURS) {
            Ok(forge) => forge,
            Err(
                Error::Forge(ForgeError::Absent(_)) | Error::Git(longhaul_git::Error::NotARepository { .. }),
            ) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let branch = last.workplace.as_ref().map(|workplace| workplace.checkout.branch.as_str());
        let marks: Vec<String> = view.sessions.iter().map(|row| format!("session `{}`", row.id)).collect();
        let is_ours = |pull: &&Pull| {
            Some(pull.head.as_str()) == branch || marks.iter().any(|mark| pull.body.contains(mark))
        };
        let open = forge.pulls(Some(PullState::Open)).map_err(Error::from)?;
        match open.iter().find(is_ours) {
            Some(pull) => Err(TaskError::AttemptOpen { pull: pull.number, url: pull.url.clone() }.into()),
            None => Ok(()),
        }
    }

    fn refuse_elsewhere(&self, view: &TaskView) -> Result<(), Error> {
        let here = match workspaces::locate(self.directory()) {
            Ok(located) => Some(located.id),
            Err(Error::Git(longhaul_git::Error::NotARepository { .. })) => None,
            Err(error) => return Err(error),
        };
        let task: TaskId = view.id;
        if here == view.task.workspace { Ok(()) } else { Err(TaskError::Elsewhere { task }.into()) }
    }

    /// What it started with the last time, with the workflow as it is now.
    fn start_again(
        &self,
        commands: &Commands,
        view: &TaskView,
        last: &Session,
    ) -> Result<StartSession, Error> {
        let before = commands.same_start(last.id)?;
        let walk = NewWalk { workflow: view.task.pipeline.clone(), goal: before.goal, vars: before.vars };
        self.prepared_until(commands, walk, view.task.until.as_deref())
    }

    fn set_off_again(
        &self,
        commands: &Commands,
        view: &TaskView,
        last: &Session,
        session: SessionId,
    ) -> Result<Drive, Error> {
        let assignment = commands.assignment_of(last.id)?;
        let checkout = last.workplace.as_ref().map(|workplace| &workplace.checkout);
        let base = checkout.map(|checkout| checkout.base_branch.clone());
        let caps = view.task.budget.or(last.caps).map_or_else(|| self.caps_with(None), Ok)?;
        let (taint, by) = (last.taint, terminal::user_name());
        self.set_off(commands, session, &SetOff { assignment, taint, caps, base, from: None, by })
    }
}
