//! The queue, as people change it: what is put in, where it stands, and whether anything starts.

use std::path::{Path, PathBuf};

use longhaul_core::queue::Plan;
use longhaul_core::task::{MOST_ATTEMPTS, Source, TaskState};
use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::answer::judge_text;
use longhaul_events::{
    Content, Orders, Priority, QueuePlace, Taint, TaskChange, TaskId, Timestamp, WorkspaceId,
};

use super::Control;
use crate::commands::queueing::NewQueued;
use crate::driving::Script;
use crate::error::{Error, TaskError};
use crate::hiring::Assignee;
use crate::queueing::script_value;
use crate::reader::TaskView;
use crate::stopping::Stop;
use crate::system::System;

/// A task that a person wants done when its turn comes.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    pub goal: String,
    /// The repository: a workspace by name, id or path; none for the one of the current folder.
    pub workspace: Option<String>,
    /// That of the settings, if none is named.
    pub pipeline: Option<String>,
    pub until: Option<String>,
    pub agent: Option<String>,
    pub cassette: Option<Script>,
    pub priority: Priority,
    /// So far from now, as in `2d`.
    pub deadline: Option<String>,
    /// As in `tokens=50k,money=2usd`.
    pub budget: Option<String>,
    pub after: Vec<String>,
    pub scope: Vec<String>,
    pub base: Option<String>,
    pub taint: Taint,
    pub labels: Vec<String>,
    pub max_attempts: u32,
}

impl NewEntry {
    /// One with nothing but a goal.
    pub const fn of(goal: String) -> Self {
        Self {
            goal,
            workspace: None,
            pipeline: None,
            until: None,
            agent: None,
            cassette: None,
            priority: Priority::Normal,
            deadline: None,
            budget: None,
            after: Vec::new(),
            scope: Vec::new(),
            base: None,
            taint: Taint::Clean,
            labels: Vec::new(),
            max_attempts: longhaul_core::trigger::MAX_ATTEMPTS,
        }
    }
}

/// What was put in, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    pub task: TaskId,
    pub warnings: Vec<String>,
}

/// Where a person puts a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueMove {
    First,
    Usual,
    Last,
}

impl QueueMove {
    pub const WORDS: [(&'static str, Self); 3] =
        [("first", Self::First), ("usual", Self::Usual), ("last", Self::Last)];

    const fn place(self, now: Timestamp) -> QueuePlace {
        match self {
            Self::First => QueuePlace::First(now),
            Self::Usual => QueuePlace::Usual,
            Self::Last => QueuePlace::Last(now),
        }
    }
}

/// A task that waits for its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedTask {
    pub view: TaskView,
    /// Counted from one; none if nobody planned it.
    pub rank: Option<usize>,
    /// What put it there.
    pub because: Option<String>,
    /// Why it has not started.
    pub waits: String,
    /// The same in one word.
    pub waits_for: &'static str,
}

impl Control<'_> {
    /// What waits for its turn, whoever is first at the top. `plan` is what a daemon made of it; without one nothing starts.
    pub fn queue(&self, plan: Option<&Plan>) -> Result<Vec<QueuedTask>, Error> {
        let Some(reader) = self.commands.reader() else { return Ok(Vec::new()) };
        let (views, _) = reader.tasks()?;
        let waiting = views.into_iter().filter(|view| view.state == TaskState::Queued);
        let mut tasks: Vec<QueuedTask> = waiting.map(|view| queued(view, plan)).collect();
        tasks.sort_by_key(|task| {
            let TaskView { id, opened_at, .. } = task.view;
            (task.rank.unwrap_or(usize::MAX), std::cmp::Reverse(task.view.task.priority), opened_at, id)
        });
        Ok(tasks)
    }

    /// Puts a task into the queue. What could never start is refused now, and not when its turn has come.
    pub fn enter(&self, new: &NewEntry) -> Result<Entered, Error> {
        let by = self.caller.person()?;
        refuse_goal(&new.goal)?;
        let elsewhere = new.workspace.as_deref().map(|text| place_of(self.system, text)).transpose()?;
        let moved = elsewhere.map(|place| self.system.standing_in(&place));
        let here = moved.as_ref().unwrap_or(self.system);
        let assignee = match &new.cassette {
            Some(script) => Assignee::Rehearsal(script.clone()),
            None => Assignee::Agent { name: new.agent.clone(), tier: None },
        };
        here.refuse_unready(&assignee)?;
        let pipeline =
            new.pipeline.clone().map_or_else(|| Ok(here.config()?.pipeline_default), Ok::<_, Error>)?;
        let mut workflow = Workflow::clone(&*here.catalog()?.startable(&pipeline)?);
        if let Some(phase) = &new.until {
            workflow.end_after(phase).map_err(TaskError::from)?;
        }
        here.who(assignee, &workflow)?;
        let budget = new.budget.as_deref().map(|text| here.caps_with(Some(text))).transpose()?;
        let deadline = new.deadline.as_deref().map(|text| self.deadline(text)).transpose()?.flatten();
        let orders = self.orders(new)?;
        let change = self.commands.add_workspace(here.directory(), None)?;
        let unknown = (!change.unchanged).then(|| {
            let name = &change.workspace.name;
            format!("the repository was not registered; it is now, as workspace `{name}`, and nobody trusts it yet")
        });
        let task = self.commands.queue_task(NewQueued {
            goal: new.goal.clone(),
            source: Source::CLI,
            pipeline: workflow.id.clone(),
            until: new.until.clone(),
            workspace: Some(change.workspace.id),
            priority: new.priority,
            deadline,
            budget,
            orders,
            by,
        })?;
        Ok(Entered { task, warnings: unknown.into_iter().collect() })
    }

    fn orders(&self, new: &NewEntry) -> Result<Orders, Error> {
        let most = u32::try_from(MOST_ATTEMPTS).unwrap_or(u32::MAX);
        if !(1..=most).contains(&new.max_attempts) {
            return Err(TaskError::BadAttempts { given: new.max_attempts, most }.into());
        }
        let mut after = Vec::new();
        for text in &new.after {
            let reader = self.commands.reader().ok_or_else(|| TaskError::NoSuch(text.clone()))?;
            after.push(reader.find_task(text)?.id);
        }
        Ok(Orders {
            agent: new.agent.clone(),
            cassette: new.cassette.as_ref().map(|script| Content::Inline(script_value(script))),
            taint: new.taint,
            labels: new.labels.clone(),
            max_attempts: new.max_attempts,
            trigger: None,
            after,
            scope: new.scope.clone(),
            base: new.base.clone(),
        })
    }

    fn deadline(&self, text: &str) -> Result<Option<Timestamp>, Error> {
        crate::tasks::deadline(text, self.commands.now()).map_err(|problem| {
            let text = format!("deadline={text}");
            TaskError::BadChange { text, problem }.into()
        })
    }

    /// Puts a task that waits somewhere else in the queue. Says whether that was anything new.
    pub fn move_in_queue(&self, task: TaskId, to: QueueMove) -> Result<bool, Error> {
        let by = self.caller.person()?;
        self.refuse_unless_queued(task)?;
        let place = to.place(self.commands.now());
        self.commands.set_task(task, &TaskChange::Place(place), &by, None)
    }

    /// Takes a task out of the queue. It stays on record as cancelled.
    pub fn leave_queue(&self, task: TaskId, because: Option<&str>) -> Result<(), Error> {
        let by = self.caller.person()?;
        self.refuse_unless_queued(task)?;
        let urgency = longhaul_events::Urgency::AfterGrace;
        // Somebody may have started it a moment ago: then it is ended.
        self.system.cancel_task(
            self.commands,
            task,
            &Stop { urgency, by, reason: because.map(str::to_owned) },
        )
    }

    /// Has nothing new started: at all, or in one repository. Says whether that was anything new.
    pub fn pause(&self, workspace: Option<&str>, because: Option<&str>) -> Result<bool, Error> {
        let by = self.caller.person()?;
        let reasons = judge_text("the reason", because.unwrap_or_default());
        if !reasons.is_empty() {
            return Err(Error::BadAnswer(reasons));
        }
        self.commands.pause_queue(self.workspace(workspace)?, &by, because)
    }

    /// Has tasks started again. Says whether that was anything new.
    pub fn resume(&self, workspace: Option<&str>) -> Result<bool, Error> {
        let by = self.caller.person()?;
        self.commands.resume_queue(self.workspace(workspace)?, &by)
    }

    fn workspace(&self, text: Option<&str>) -> Result<Option<WorkspaceId>, Error> {
        text.map(|text| Ok(self.system.find_workspace(Some(text))?.1.id)).transpose()
    }

    fn refuse_unless_queued(&self, id: TaskId) -> Result<(), Error> {
        let task = self.commands.load_task(id)?;
        match self.commands.task_state(&task)? {
            TaskState::Queued => Ok(()),
            state @ (TaskState::Open
            | TaskState::Waits(_)
            | TaskState::Ending
            | TaskState::HandedOver(_)
            | TaskState::Over(_)
            | TaskState::NotHere) => {
                Err(TaskError::NotWaiting { task: id, state: state.word().to_owned() }.into())
            }
        }
    }
}

/// Where a workspace's commands count as being called from.
fn place_of(system: &System, text: &str) -> Result<PathBuf, Error> {
    let (_, workspace) = system.find_workspace(Some(text))?;
    Ok(Path::new(workspace.checkout.as_ref().unwrap_or(&workspace.common_dir)).to_owned())
}

fn refuse_goal(goal: &str) -> Result<(), Error> {
    let mut reasons = judge_text("the goal", goal);
    if goal.trim().is_empty() {
        let fix = "say what is wanted";
        reasons.push(longhaul_events::Reason::new("blank_goal", "the goal is blank", fix));
    }
    if reasons.is_empty() { Ok(()) } else { Err(Error::BadStart(reasons)) }
}

/// What a plan says of a task. One that came after it was made is looked at next.
fn queued(view: TaskView, plan: Option<&Plan>) -> QueuedTask {
    let Some(plan) = plan else {
        let waits = "no daemon runs; `longhaul daemon start` starts one".to_owned();
        return QueuedTask { view, rank: None, because: None, waits, waits_for: "daemon" };
    };
    if let Some(at) = plan.waiting.iter().position(|waiting| waiting.task == view.id) {
        let waiting = &plan.waiting[at];
        let (because, waits) = (Some(waiting.because.to_string()), waiting.waits.to_string());
        let waits_for = waiting.waits.word();
        return QueuedTask { view, rank: Some(plan.start.len() + at + 1), because, waits, waits_for };
    }
    let (rank, because, waits, waits_for) =
        if let Some(at) = plan.start.iter().position(|start| start.task == view.id) {
            let because = plan.start[at].because.to_string();
            (Some(at + 1), Some(because), "is being started".to_owned(), "start")
        } else if let Some(over) = plan.hand_over.iter().find(|over| over.task == view.id) {
            (None, None, over.why.to_string(), over.why.word())
        } else {
            (None, None, "is looked at next".to_owned(), "look")
        };
    QueuedTask { view, rank, because, waits, waits_for }
}
