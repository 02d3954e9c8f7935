//! What the inbox is told from: tasks as they stand, and what is broken. Whoever reads the log fills it in.

use std::collections::BTreeSet;

use longhaul_events::{Channel, NodeId, Priority, Seq, SessionId, Taint, TaskId, Timestamp, WorkspaceId};

use crate::question::Question;
use crate::task::TaskState;

/// All that is known at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    pub now: Timestamp,
    pub tasks: Vec<TaskSeen>,
    /// Of sessions from before there were tasks.
    pub loose_gates: Vec<GateSeen>,
    pub troubles: Vec<Trouble>,
}

/// A task, with what of its sessions concerns a person.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSeen {
    pub id: TaskId,
    /// The first line of its goal.
    pub title: String,
    pub workspace: Option<WorkspaceId>,
    pub state: TaskState,
    pub taint: Taint,
    pub priority: Priority,
    pub deadline: Option<Timestamp>,
    pub doer: Doer,
    pub settles: Settles,
    pub attempts: u64,
    /// Why the daemon does nothing more with it.
    pub handed_over: Option<String>,
    /// The session that it waits for or came to an end with.
    pub halted: Option<Halted>,
    pub delivered: Delivered,
    pub gates: Vec<GateSeen>,
    /// Of sessions that are open.
    pub questions: Vec<QuestionSeen>,
    /// The entries that a person settled.
    pub settled: BTreeSet<String>,
    pub opened: Timestamp,
    /// When it last changed.
    pub since: Timestamp,
    /// Where its root session is.
    pub step: Option<String>,
    pub root: Option<SessionId>,
    /// By all its sessions.
    pub money_micros: u64,
}

impl TaskSeen {
    /// Why the daemon does nothing more with it, as long as that is so.
    pub fn given_up(&self) -> Option<&str> {
        let because = self.handed_over.as_deref()?;
        matches!(self.state, TaskState::HandedOver(_)).then_some(because)
    }
}

/// Who does the steps of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doer {
    /// An agent of ours.
    Ours,
    /// An agent that a person drives, or the person.
    Others,
}

/// Who decides what becomes of a task that came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settles {
    /// A daemon tries it again, or hands it over.
    ByDaemon,
    ByPerson,
}

/// How far the change of a task got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Delivered {
    #[default]
    Nothing,
    Branch,
    Pull,
    Merged,
}

/// A session that does not go on, or is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halted {
    pub session: SessionId,
    /// The event that said so: the next time is another entry.
    pub seq: Seq,
    pub at: Timestamp,
    /// What the first reason says to do.
    pub fix: String,
    /// It waits for something that comes by itself.
    pub goes_on_at: Option<Timestamp>,
}

/// A gate that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateSeen {
    pub session: SessionId,
    pub node: NodeId,
    /// Of its session.
    pub goal: String,
    pub question: String,
    pub accepts: Channel,
    pub since: Timestamp,
    pub until: Timestamp,
}

/// A question that an agent asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionSeen {
    pub session: SessionId,
    pub seq: Seq,
    pub at: Timestamp,
    pub question: Question,
}

/// Something that is broken and is not about one task: a file, a trigger, a way to notify, the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is broken, such as a path or the name of a trigger. The same subject is the same entry.
    pub subject: String,
    pub title: String,
    pub problem: String,
    /// The command that puts it right, or says more.
    pub remedy: String,
    pub severity: Severity,
    pub workspace: Option<WorkspaceId>,
    pub since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Nothing goes on, or nothing comes in, without it.
    StopsWork,
    Hinders,
}
