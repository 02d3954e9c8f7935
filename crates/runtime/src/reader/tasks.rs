//! Tasks as they are shown: what was asked for, how far it is, and what it cost with all that it led to.

use std::collections::BTreeMap;

use longhaul_core::outcome::Live;
use longhaul_core::proof::{Proof, carried};
use longhaul_core::session::Spent;
use longhaul_core::task::{Newest, Task, TaskState};
use longhaul_core::time::rfc3339;
use longhaul_core::units::show_money;
use longhaul_events::{SessionId, TaskChange, TaskEvent, TaskId, Timestamp};
use longhaul_store::views::{SessionRow, SessionStatus, TaskRow};
use serde_json::Value;

use super::{Happened, Reader, Telling, live_of, outcome_of};
use crate::error::{Error, TaskError};
use crate::trees::{WaitsFor, waits_for};

/// The var that holds what was proven.
const PROOF: &str = "proof";
/// What became of its merge.
const LANDED: &str = "landed";

/// How many of several that fit are named.
const MOST_NAMED: usize = 5;

/// A task as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskView {
    pub id: TaskId,
    /// Cut to what a list shows.
    pub goal: String,
    pub task: Task,
    pub state: TaskState,
    /// The session below the root that it waits for, if it is not the root.
    pub waits_for: Option<SessionId>,
    /// The session of its newest attempt.
    pub root: Option<SessionRow>,
    /// What that one is doing.
    pub live: Option<Live>,
    /// All of its sessions, over all attempts, the oldest first.
    pub sessions: Vec<SessionRow>,
    /// What all of them used.
    pub spent: Spent,
    /// The entries of the inbox that a person settled.
    pub settled: Vec<String>,
    pub opened_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A task that cannot be shown, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedTask {
    pub id: TaskId,
    pub problem: String,
}

/// A decision of a task, or of one of its sessions, with its because.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskDecision {
    pub at: String,
    /// None for one about the task itself.
    pub session: Option<SessionId>,
    pub workflow: Option<String>,
    pub what: Decided,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Decided {
    /// Of the task, in words.
    Task(String),
    Session(Happened),
}

impl Reader {
    /// All tasks, and those that cannot be read.
    pub fn tasks(&self) -> Result<(Vec<TaskView>, Vec<DamagedTask>), Error> {
        let rows = self.sessions()?;
        let sessions = Sessions::of(&rows);
        let (mut views, mut damaged) = (Vec::new(), Vec::new());
        for row in self.views.tasks(&*self.store)? {
            match view(row, &sessions) {
                Ok(view) => views.push(view),
                Err(problem) => damaged.push(problem),
            }
        }
        Ok((views, damaged))
    }

    /// A task by its id, by the beginning of it, or by one of its sessions.
    pub fn find_task(&self, text: &str) -> Result<TaskView, Error> {
        if text.starts_with("s-") {
            let row = self.find_session(text)?;
            let task = row.task.ok_or(TaskError::SessionWithout(row.id))?;
            return self.find_task(&task.to_string());
        }
        let (views, damaged) = self.tasks()?;
        let beginning = text.strip_prefix("t-").unwrap_or(text);
        let fits = |id: TaskId| {
            let id = id.to_string();
            (!beginning.is_empty() || text == "t-") && id["t-".len()..].starts_with(beginning)
        };
        let mut fitting: Vec<TaskView> = views.into_iter().filter(|view| fits(view.id)).collect();
        let mut broken = damaged.into_iter().filter(|damaged| fits(damaged.id));
        match (fitting.len(), broken.next()) {
            (1, None) => Ok(fitting.remove(0)),
            (0, Some(DamagedTask { id, problem })) => Err(TaskError::Damaged { task: id, problem }.into()),
            (0, None) => Err(TaskError::NoSuch(text.chars().take(80).collect()).into()),
            _ => {
                let named: Vec<String> =
                    fitting.iter().take(MOST_NAMED).map(|view| view.id.to_string()).collect();
                Err(TaskError::Ambiguous { text: text.to_owned(), fitting: named.join(", ") }.into())
            }
        }
    }

    /// The whole goal of a task.
    pub fn goal_of_task(&self, view: &TaskView) -> Result<String, Error> {
        self.words(&view.task.goal)
    }

    /// A var of the session of a task's newest attempt; `None` if it has none of that name.
    pub(super) fn var_of_task(&self, view: &TaskView, name: &str) -> Result<Option<Value>, Error> {
        let Some(root) = view.task.root() else { return Ok(None) };
        let Some(session) = self.session(root)? else { return Ok(None) };
        session.vars.get(name).map(|content| self.value(content)).transpose()
    }

    /// The proof of a task's change, as the session of its newest attempt has it; carried, if it was merged onto a newer base.
    pub fn proof_of_task(&self, view: &TaskView) -> Result<Proof, Error> {
        let task = view.id;
        let value = self.var_of_task(view, PROOF)?.ok_or(TaskError::NoProof { task })?;
        let proof: Proof = serde_json::from_value(value)
            .map_err(|error| TaskError::BadProof { task, problem: error.to_string() })?;
        let landed = self.var_of_task(view, LANDED)?.unwrap_or_default();
        let merged = |key: &str| landed["merged"][key].as_str().filter(|_| landed["outcome"] == "delivered");
        match (merged("onto"), merged("tree")) {
            (Some(onto), Some(tree)) if onto != proof.base => {
                let because = format!(
                    "the base moved from {} to {onto} and shares no file with the change",
                    proof.base
                );
                Ok(carried(&proof, onto, tree, &because))
            }
            (Some(_) | None, _) => Ok(proof),
        }
    }

    /// Every decision of a task and of all its sessions with its because, in the order in which they were made.
    pub fn decisions_of_task(&self, view: &TaskView) -> Result<Vec<TaskDecision>, Error> {
        let mut decisions = Vec::new();
        self.decisions(view.id.into()).each(|decision| {
            for event in decision.readable_events::<TaskEvent>()? {
                decisions.push(TaskDecision {
                    at: rfc3339(decision.at),
                    session: None,
                    workflow: None,
                    what: Decided::Task(said(&event)),
                });
            }
            Ok(())
        })?;
        for row in view.sessions.iter().filter(|row| row.damage.is_none()) {
            let told = self.story(row, Telling::WithReasons)?.into_iter();
            decisions.extend(told.filter(|entry| is_decision(&entry.what)).map(|entry| TaskDecision {
                at: entry.at,
                session: Some(row.id),
                workflow: row.workflow.clone(),
                what: Decided::Session(entry.what),
            }));
        }
        // Sorted by when they were made; those of one session stay in their order.
        decisions.sort_by(|one, other| one.at.cmp(&other.at));
        Ok(decisions)
    }
}

/// All sessions, to be found by their task or their id: there may be many of both.
struct Sessions<'a> {
    by_task: BTreeMap<TaskId, Vec<&'a SessionRow>>,
    by_id: BTreeMap<SessionId, &'a SessionRow>,
}

impl<'a> Sessions<'a> {
    fn of(rows: &'a [SessionRow]) -> Self {
        let mut by_task: BTreeMap<TaskId, Vec<&SessionRow>> = BTreeMap::new();
        for row in rows {
            if let Some(task) = row.task {
                by_task.entry(task).or_default().push(row);
            }
        }
        Self { by_task, by_id: rows.iter().map(|row| (row.id, row)).collect() }
    }

    /// An import may bring an attempt that names another task, or none.
    fn of_task(&self, task: &Task) -> Vec<SessionRow> {
        let named = self.by_task.get(&task.id).into_iter().flatten().copied();
        let attempts = task.attempts.iter().filter_map(|id| self.by_id.get(id).copied());
        let mut all: Vec<SessionRow> =
            named.chain(attempts.filter(|row| row.task != Some(task.id))).cloned().collect();
        all.sort_by_key(|row| (row.opened_at, row.id));
        all
    }
}

/// A task with those of the sessions that are its own.
pub(crate) fn view_among(row: TaskRow, sessions: &[SessionRow]) -> Result<TaskView, DamagedTask> {
    view(row, &Sessions::of(sessions))
}

fn view(row: TaskRow, sessions: &Sessions<'_>) -> Result<TaskView, DamagedTask> {
    let TaskRow { id, goal, task, settled, opened_at, updated_at, damage, .. } = row;
    if let Some(problem) = damage {
        return Err(DamagedTask { id, problem });
    }
    let task = task.ok_or_else(|| DamagedTask { id, problem: "it has no events".to_owned() })?;
    let sessions = sessions.of_task(&task);
    let root = task.root().and_then(|root| sessions.iter().find(|row| row.id == root)).cloned();
    let (waits_for, newest) = match task.root() {
        Some(_) => newest(root.as_ref(), &sessions),
        None => (None, Newest::None),
    };
    let spent = sessions.iter().map(|row| row.driven.spent).fold(Spent::default(), with);
    let updated_at = sessions.iter().map(|row| row.updated_at).fold(updated_at, Timestamp::max);
    Ok(TaskView {
        id,
        goal,
        state: TaskState::of(&task, newest),
        waits_for,
        live: root.as_ref().and_then(live_of),
        root,
        task,
        sessions,
        spent,
        settled,
        opened_at,
        updated_at,
    })
}

/// A root that is at work on what others do waits as long as one of them does.
fn newest(root: Option<&SessionRow>, sessions: &[SessionRow]) -> (Option<SessionId>, Newest) {
    let Some(root) = root else { return (None, Newest::NotHere) };
    match (&root.status, outcome_of(root)) {
        (SessionStatus::Closed(_), Some(outcome)) => (None, Newest::Closed(outcome)),
        (SessionStatus::Open, Some(outcome)) => (None, Newest::Halted(outcome)),
        (SessionStatus::Open, None) => match waits_for(sessions, root, 0) {
            Some(WaitsFor { session, outcome: Some(outcome), .. }) => {
                (Some(session), Newest::Halted(outcome))
            }
            Some(WaitsFor { session, outcome: None, .. }) => (Some(session), Newest::GoesOn),
            None => (None, Newest::GoesOn),
        },
        (SessionStatus::Closed(_), None) => (None, Newest::GoesOn),
    }
}

/// The sum of two.
pub(crate) const fn with(mut sum: Spent, more: Spent) -> Spent {
    sum.turns = sum.turns.saturating_add(more.turns);
    sum.tokens.input = sum.tokens.input.saturating_add(more.tokens.input);
    sum.tokens.output = sum.tokens.output.saturating_add(more.tokens.output);
    sum.money_micros = sum.money_micros.saturating_add(more.money_micros);
    sum
}

/// What was decided about a task, with its because.
fn said(event: &TaskEvent) -> String {
    let because = |because: &Option<String>| because.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    match event {
        TaskEvent::Opened { source, pipeline, by, until, .. } => {
            let until = until.as_ref().map(|until| format!(" until `{until}`")).unwrap_or_default();
            format!("opened by {by} from `{source}`, follows `{pipeline}`{until}")
        }
        TaskEvent::Attempted { session, by, because: why } => {
            format!("session {session} was started by {by}{}", because(why))
        }
        TaskEvent::Set { change, by, because: why } => {
            if let TaskChange::Budget(caps) = change {
                let money = show_money(caps.task_money_micros);
                return format!("{by} set the money of the task to {money}{}", because(why));
            }
            let shown = serde_json::to_value(change).unwrap_or_default();
            let field = shown["field"].as_str().unwrap_or_default();
            format!("{by} set {field} to {}{}", shown["value"], because(why))
        }
        TaskEvent::Cancelled { by, because: why } => format!("cancelled by {by}{}", because(why)),
        TaskEvent::Queued { by, .. } => format!("put into the queue by {by}"),
        TaskEvent::Requeued { because, due, by } => {
            format!("{by} put it into the queue again, from {} on: {because}", rfc3339(*due))
        }
        TaskEvent::HandedOver { because, by } => format!("{by} handed it over to a person: {because}"),
        TaskEvent::Told { by, .. } => format!("{by} said something to whoever works on it"),
        TaskEvent::Replied { entry, by, .. } => format!("{by} settled `{entry}` of the inbox"),
    }
}

/// What was decided, by a rule or by a person; not what was said, done or found on the way.
const fn is_decision(what: &Happened) -> bool {
    match what {
        Happened::Refused { .. }
        | Happened::GateOpened { .. }
        | Happened::GateAnswered { .. }
        | Happened::GateExpired { .. }
        | Happened::Parked { .. }
        | Happened::Unparked { .. }
        | Happened::StopRequested { .. }
        | Happened::Rewound { .. }
        | Happened::Forked { .. }
        | Happened::Closed { .. }
        | Happened::WayChosen { .. }
        | Happened::Decided(_)
        | Happened::LoopExhausted { .. } => true,
        Happened::Opened { .. }
        | Happened::Pinned { .. }
        | Happened::HandedOut { .. }
        | Happened::Finished { .. }
        | Happened::VarsChanged { .. }
        | Happened::WorkDue { .. }
        | Happened::WorkStarted { .. }
        | Happened::WorkFinished { .. }
        | Happened::Noted { .. }
        | Happened::Reported { .. }
        | Happened::Agent { .. }
        | Happened::HandleReissued { .. }
        | Happened::Continued { .. }
        | Happened::CheckoutMade { .. }
        | Happened::Snapshotted { .. }
        | Happened::CheckoutRemoved { .. }
        | Happened::Delivery { .. } => false,
    }
}
