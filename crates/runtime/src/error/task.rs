//! What can be wrong with a task that somebody wants something of.

use longhaul_core::task::{BadSource, Rejection};
use longhaul_core::workflow::NoSuchPhase;
use longhaul_events::{SessionId, TaskId};

use super::Kind;
use crate::triggers::TriggerError;

#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("{0}")]
    Rejected(Rejection),
    #[error("no task has an id that begins with `{0}`; `longhaul task list --all` shows them")]
    NoSuch(String),
    #[error("several tasks have an id that begins with `{text}`: {fitting}; type more of it")]
    Ambiguous { text: String, fitting: String },
    #[error("session `{0}` is from before there were tasks, so it has none")]
    SessionWithout(SessionId),
    #[error("task `{task}` cannot be read: {problem}; run `longhaul doctor`")]
    Damaged { task: TaskId, problem: String },
    #[error(
        "{source_name} is being done by task {task} already, so nothing was started; `longhaul task show {task}` tells how far it is"
    )]
    Duplicate { source_name: String, task: TaskId },
    #[error("ticket #{number} is closed, so nothing was started; open it again first")]
    TicketClosed { number: u64 },
    #[error(
        "pull request #{pull} is open for ticket #{number}, so nothing was started; merge or close it first: {url}"
    )]
    PullOpen { number: u64, pull: u64, url: String },
    #[error(
        "pull request #{pull} of an earlier attempt is open, so nothing was started; merge or close it first: {url}"
    )]
    AttemptOpen { pull: u64, url: String },
    #[error("task {task} belongs to another repository than this folder; try it again there")]
    Elsewhere { task: TaskId },
    #[error(transparent)]
    Phase(#[from] NoSuchPhase),
    #[error(transparent)]
    Source(#[from] BadSource),
    #[error("`{text}` sets nothing; write `priority=high` or `deadline=2d`: {problem}")]
    BadChange { text: String, problem: String },
    #[error("a task has a budget of money only, as in `money=30usd`: {problem}")]
    BadBudget { problem: String },
    #[error(
        "task {task} has no agent of ours, so there is nothing to pay; whoever does it pays by themselves"
    )]
    NotPaid { task: TaskId },
    #[error(
        "task {task} is completed, so there is nothing left to pay for; start another with `longhaul run`"
    )]
    NothingToPay { task: TaskId },
    #[error(
        "task {task} has no proof yet; it gets one when its pipeline comes to it, see `longhaul task show {task}`"
    )]
    NoProof { task: TaskId },
    #[error(
        "the var `proof` of task {task} is no proof: {problem}; its pipeline has to gather it with `kind: proof`"
    )]
    BadProof { task: TaskId, problem: String },
    #[error("{0}, so nothing was started; let a session above do it")]
    NoMoreBelow(String),
    #[error("task {task} never waited in the queue; `longhaul task retry {task}` tries it again")]
    NotQueued { task: TaskId },
    #[error(
        "the repository of task {task} is not registered any more; `longhaul workspace add` adds it again, then `longhaul task retry {task}`"
    )]
    NoRepository { task: TaskId },
    #[error("task {task} does not wait in the queue, it is {state}; `longhaul queue list` shows what does")]
    NotWaiting { task: TaskId, state: String },
    #[error("a task is tried {given} times by nobody; `--max-attempts` is from 1 to {most}")]
    BadAttempts { given: u32, most: u32 },
    /// What begins tasks is the matter.
    #[error(transparent)]
    Trigger(#[from] TriggerError),
}

impl TaskError {
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Rejected(rejection) => rejection.code(),
            Self::NoSuch(_) | Self::Ambiguous { .. } | Self::SessionWithout(_) => "E0252",
            Self::Duplicate { .. }
            | Self::TicketClosed { .. }
            | Self::PullOpen { .. }
            | Self::AttemptOpen { .. } => "E0253",
            Self::Damaged { .. } => "E0102",
            Self::Trigger(error) => error.code(),
            Self::Elsewhere { .. }
            | Self::Phase(_)
            | Self::Source(_)
            | Self::BadChange { .. }
            | Self::BadBudget { .. }
            | Self::NotPaid { .. }
            | Self::NothingToPay { .. }
            | Self::NoProof { .. }
            | Self::BadProof { .. }
            | Self::NoMoreBelow(_)
            | Self::NotQueued { .. }
            | Self::NoRepository { .. }
            | Self::NotWaiting { .. }
            | Self::BadAttempts { .. } => "E0251",
        }
    }

    pub const fn kind(&self) -> Kind {
        match self {
            Self::NoSuch(_)
            | Self::Ambiguous { .. }
            | Self::Phase(_)
            | Self::Source(_)
            | Self::BadChange { .. }
            | Self::BadBudget { .. }
            | Self::BadAttempts { .. } => Kind::Usage,
            Self::Rejected(_)
            | Self::SessionWithout(_)
            | Self::Duplicate { .. }
            | Self::TicketClosed { .. }
            | Self::PullOpen { .. }
            | Self::AttemptOpen { .. }
            | Self::Elsewhere { .. }
            | Self::NotPaid { .. }
            | Self::NothingToPay { .. }
            | Self::NoProof { .. }
            | Self::BadProof { .. }
            | Self::NoMoreBelow(_)
            | Self::NotQueued { .. }
            | Self::NotWaiting { .. } => Kind::Refused,
            Self::Damaged { .. } | Self::NoRepository { .. } => Kind::Environment,
            Self::Trigger(error) => error.kind(),
        }
    }
}

impl From<Rejection> for TaskError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}
