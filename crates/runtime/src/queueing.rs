//! Starting a task whose turn it is: from the newest commit of its base, with what `.longhaul/` says there.
//!
//! Nobody stands in a checkout, so none is looked at: what the person who owns it has not committed is theirs.

use std::path::PathBuf;

use longhaul_core::session::{Rejection, Session};
use longhaul_core::task::Task;
use longhaul_core::workflow::Workflow;
use longhaul_events::{Content, Orders, TaskId, Urgency};
use longhaul_git::secure_base;
use serde_json::{Map, Value};

use crate::commands::Commands;
use crate::commands::task::TaskWish;
use crate::daemon::DAEMON;
use crate::driving::{Drive, Script, SetOff};
use crate::error::{Error, TaskError};
use crate::hiring::Assignee;
use crate::runner::Whom;
use crate::starting::NewWalk;
use crate::stopping::Stop;
use crate::system::System;
use crate::walling::WantedWalls;
use crate::workspaces::{self, Located};
use crate::worktrees::StartCommit;

/// Whose turn it is, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub task: TaskId,
    pub by: String,
    pub because: Option<String>,
}

impl System {
    /// Starts a root session for a task that waits for its turn. However many try, one of them does it.
    pub fn start_queued(&self, commands: &Commands, turn: &Turn) -> Result<Drive, Error> {
        let task = commands.load_task(turn.task)?;
        let orders = orders_of(&task)?;
        let located = self.repository_of_task(&task)?;
        let session = commands.new_session_id();
        let base = secure_base(&located.repository, &session.to_string(), orders.base.as_deref())?;
        let from = StartCommit { branch: base.branch, commit: base.commit.to_string() };
        let here = self.pinned_at(&place_of(&located), &from);
        let goal = commands.text(&task.goal)?;
        let walk = NewWalk { workflow: task.pipeline.clone(), goal, vars: Map::new() };
        let mut start = here.prepared_until(commands, walk, task.until.as_deref())?;
        start.label(&orders.labels);
        // What can be refused is refused before the task counts as tried.
        here.orders_for(commands, &task, &start.workflow)?;
        let wish = TaskWish::Again { task: task.id, by: turn.by.clone(), because: turn.because.clone() };
        let brief = commands.told_before(&task)?;
        self.end_attempts(commands, &task)?;
        let view = commands.start_session_under(session, &start, &wish, brief.as_deref())?;
        let mut drive = here.set_off_task(commands, &commands.load_session(session)?, Some(from))?;
        drive.warnings.splice(0..0, view.warnings);
        Ok(drive)
    }

    /// Goes on with a start that was cut short, from the commit that it began with.
    pub fn finish_start(&self, commands: &Commands, session: &Session) -> Result<Drive, Error> {
        let task = commands.task_of(session)?.ok_or(TaskError::SessionWithout(session.id))?;
        let located = self.repository_of_task(&task)?;
        let began = commands.checkout_of(session.id)?;
        let from = began.and_then(|at| Some(StartCommit { branch: at.branch?, commit: at.pinned? }));
        let here = match &from {
            Some(from) => self.pinned_at(&place_of(&located), from),
            None => self.standing_in(&place_of(&located)),
        };
        here.set_off_task(commands, session, from)
    }

    /// An attempt that was given up may still be open. It does not go on beside the new one; its files are kept.
    fn end_attempts(&self, commands: &Commands, task: &Task) -> Result<(), Error> {
        let reason = Some("another attempt is made".to_owned());
        let stop = Stop { urgency: Urgency::Now, by: DAEMON.to_owned(), reason };
        for id in &task.attempts {
            match commands.request_stop(*id, &stop) {
                Ok(()) => self.end(commands, *id, Whom::Everybody)?,
                Err(Error::Session(Rejection::Closed) | Error::UnknownSession(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn set_off_task(
        &self,
        commands: &Commands,
        session: &Session,
        from: Option<StartCommit>,
    ) -> Result<Drive, Error> {
        let task = commands.task_of(session)?.ok_or(TaskError::SessionWithout(session.id))?;
        let workflow = commands.workflow_of(session)?;
        let orders = self.orders_for(commands, &task, &workflow)?;
        self.set_off(commands, session.id, &SetOff { from, ..orders })
    }

    /// How a task is set off: as ordered, and where nothing was ordered, as the settings say.
    fn orders_for(&self, commands: &Commands, task: &Task, workflow: &Workflow) -> Result<SetOff, Error> {
        let orders = orders_of(task)?;
        let assignee = match &orders.cassette {
            Some(script) => Assignee::Rehearsal(script_of(&commands.content(script)?)),
            None => Assignee::Agent { name: orders.agent.clone(), tier: None },
        };
        self.refuse_unready(&assignee)?;
        let who = self.who(assignee, workflow)?;
        let walls = self.walls(WantedWalls::default())?.letting(who.hosts());
        let walls = walls.for_taint(orders.taint, &who.workers())?;
        self.refuse_if_missing(&who)?;
        let caps = task.budget.map_or_else(|| self.caps_with(None), Ok)?;
        let assignment = self.assignment(who, &walls)?;
        let (taint, base, by) = (orders.taint, orders.base.clone(), task.by.clone());
        Ok(SetOff { assignment, taint, caps, base, from: None, by })
    }

    /// The repository of a task, as it lies on the disk now.
    pub(crate) fn repository_of_task(&self, task: &Task) -> Result<Located, Error> {
        let none = || Error::from(TaskError::NoRepository { task: task.id });
        let id = task.workspace.ok_or_else(none)?;
        let reader = self.reader()?.ok_or_else(none)?;
        let workspace = reader.workspace(id)?.filter(|workspace| !workspace.removed).ok_or_else(none)?;
        workspaces::locate(workspace.common_dir.as_ref())
    }
}

impl Commands {
    /// What people said to a task before this attempt, for whoever works on it now.
    pub(crate) fn told_before(&self, task: &Task) -> Result<Option<String>, Error> {
        let said = told_brief(&self.told_to(task)?);
        let why = task.requeued.as_ref().map(|again| format!("This is another attempt: {}.", again.because));
        let told: Vec<String> = why.into_iter().chain(said).collect();
        Ok((!told.is_empty()).then(|| told.join("\n")))
    }

    /// What people said to a task, the newest last.
    pub(crate) fn told_to(&self, task: &Task) -> Result<Vec<String>, Error> {
        task.told.iter().map(|words| self.text(words)).collect()
    }

    /// The words of a content.
    pub(crate) fn text(&self, content: &Content) -> Result<String, Error> {
        let value = self.content(content)?;
        Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }
}

/// What people said, for one who begins. Of very much, the newest.
pub(crate) fn told_brief(said: &[String]) -> Option<String> {
    const MOST: usize = 20;
    let newest = &said[said.len().saturating_sub(MOST)..];
    let lines: Vec<String> = newest.iter().map(|words| format!("- {words}")).collect();
    (!lines.is_empty()).then(|| format!("A person said about this task:\n{}", lines.join("\n")))
}

fn orders_of(task: &Task) -> Result<&Orders, Error> {
    task.orders.as_ref().ok_or_else(|| TaskError::NotQueued { task: task.id }.into())
}

/// Where commands for a repository count as being called from.
pub(crate) fn place_of(located: &Located) -> PathBuf {
    located.repository.main_checkout.clone().unwrap_or_else(|| located.repository.common_dir.clone())
}

/// The script of a rehearsal as it is kept with a task.
pub fn script_value(script: &Script) -> Value {
    serde_json::json!({ "path": script.path, "text": script.text })
}

fn script_of(value: &Value) -> Script {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    Script { path: text("path"), text: text("text") }
}
