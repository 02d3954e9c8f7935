//! From the rows of the views to what the inbox is told from.

use std::collections::BTreeSet;

use longhaul_core::inbox::{
    Delivered, Doer, GateSeen, Halted, QuestionSeen, Seen, Settles, Severity, TaskSeen, Trouble,
};
use longhaul_core::plain;
use longhaul_events::{Taint, Timestamp};
use longhaul_store::views::{GateRow, Reached, SessionRow, SessionStatus, Waiting};

use crate::error::Error;
use crate::reader::{DamagedTask, Reader, TaskView};

impl Reader {
    /// All tasks as they concern people, and what of the log is damaged.
    pub(super) fn seen(&self, now: Timestamp) -> Result<Seen, Error> {
        let (views, damaged) = self.tasks()?;
        let mut troubles: Vec<Trouble> = damaged.iter().map(|task| unreadable_task(task, now)).collect();
        let mut loose_gates = Vec::new();
        for row in self.sessions()? {
            troubles.extend(unreadable_session(&row, now));
            if row.task.is_none() {
                loose_gates.extend(gate(&row));
            }
        }
        Ok(Seen { now, tasks: views.iter().map(task).collect(), loose_gates, troubles })
    }
}

fn task(view: &TaskView) -> TaskSeen {
    let is_open = |row: &&SessionRow| row.status == SessionStatus::Open && row.damage.is_none();
    let open = || view.sessions.iter().filter(is_open);
    let ours = view.task.orders.is_some() || view.sessions.iter().any(|row| row.driven.agent.is_some());
    let taint = view.sessions.iter().map(|row| row.driven.taint).max().unwrap_or_default();
    let ordered = view.task.orders.as_ref().map_or(Taint::Clean, |orders| orders.taint);
    TaskSeen {
        id: view.id,
        title: plain::title(&view.goal),
        workspace: view.task.workspace,
        state: view.state.clone(),
        taint: taint.max(ordered),
        priority: view.task.priority,
        deadline: view.task.deadline,
        doer: if ours { Doer::Ours } else { Doer::Others },
        settles: if view.task.orders.is_some() { Settles::ByDaemon } else { Settles::ByPerson },
        attempts: view.task.attempts.len() as u64,
        handed_over: view.task.handed_over.clone(),
        halted: halted(view),
        delivered: view.sessions.iter().map(|row| reached(row.concerns.reached)).max().unwrap_or_default(),
        gates: open().filter_map(gate).collect(),
        questions: open().flat_map(questions).collect(),
        settled: view.settled.iter().cloned().collect::<BTreeSet<_>>(),
        opened: view.opened_at,
        since: view.updated_at,
        step: view.root.as_ref().and_then(|root| root.step.as_ref()).map(|step| step.0.clone()),
        root: view.root.as_ref().map(|root| root.id),
        money_micros: view.spent.money_micros,
    }
}

/// The session that a task waits for, or came to an end with.
fn halted(view: &TaskView) -> Option<Halted> {
    let root = view.root.as_ref()?;
    let waited = view.waits_for.and_then(|id| view.sessions.iter().find(|row| row.id == id));
    let row = waited.unwrap_or(root);
    let (seq, at) = row.concerns.halted?;
    let goes_on_at = row.driven.waits.as_ref().map(|waits| waits.wake_at);
    Some(Halted { session: row.id, seq, at, fix: row.concerns.fix.clone(), goes_on_at })
}

fn gate(row: &SessionRow) -> Option<GateSeen> {
    let Waiting::Gate(gate) = &row.waiting else { return None };
    if row.status != SessionStatus::Open || row.damage.is_some() {
        return None;
    }
    let GateRow { gate: node, question, accepts, until, .. } = gate;
    let since = row.concerns.halted.map_or(row.updated_at, |(_, at)| at);
    Some(GateSeen {
        session: row.id,
        node: *node,
        goal: plain::title(&row.goal),
        question: question.clone(),
        accepts: *accepts,
        since,
        until: *until,
    })
}

fn questions(row: &SessionRow) -> impl Iterator<Item = QuestionSeen> {
    row.concerns.questions.iter().map(|asked| QuestionSeen {
        session: row.id,
        seq: asked.seq,
        at: asked.at,
        question: asked.question.clone(),
    })
}

const fn reached(reached: Reached) -> Delivered {
    match reached {
        Reached::Nothing => Delivered::Nothing,
        Reached::Branch => Delivered::Branch,
        Reached::Pull => Delivered::Pull,
        Reached::Merged => Delivered::Merged,
    }
}

fn unreadable_task(task: &DamagedTask, now: Timestamp) -> Trouble {
    unreadable(format!("task {}", task.id), "A task cannot be read", &task.problem, now)
}

fn unreadable_session(row: &SessionRow, now: Timestamp) -> Option<Trouble> {
    let problem = row.damage.as_ref()?;
    Some(unreadable(format!("session {}", row.id), "A session cannot be read", problem, now))
}

/// What is damaged is kept apart, and everything else goes on.
fn unreadable(subject: String, title: &str, problem: &str, now: Timestamp) -> Trouble {
    Trouble {
        title: title.to_owned(),
        problem: format!("{subject}: {problem}"),
        subject,
        remedy: "longhaul doctor".to_owned(),
        severity: Severity::Hinders,
        workspace: None,
        since: now,
    }
}
