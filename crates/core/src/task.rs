//! The task aggregate: one unit of work, with all attempts at it. A person sees it as one thing.
//!
//! What its events amount to is what it is for and what was tried. How it is doing is told from the session of its newest
//! attempt, never kept twice:
//!
//! | newest attempt | the task | `cancel` | `retry` |
//! |---|---|---|---|
//! | goes on | `open` | ends the tree | refused |
//! | waits at a gate, parked, blocked | `waits` | ends the tree | refused: what waits can go on |
//! | completed | `completed` | refused | refused |
//! | failed, could not | `failed`, `could not` | ends what is left of the tree | a new attempt |
//! | cancelled | `cancelled` | refused | a new attempt |
//! | any, and the task was cancelled a moment ago | `ending` | goes on ending the tree | refused |
//! | is not in this log | `not here` | refused | refused |

mod source;
#[cfg(test)]
mod tests;

use longhaul_events::{
    Caps, Content, Priority, Seq, SessionId, TaskChange, TaskEvent, TaskId, Timestamp, WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use source::{BadSource, Source};

use crate::outcome::Outcome;

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 1;

/// More attempts than this help nobody.
pub const MOST_ATTEMPTS: usize = 50;

/// What the events of a task amount to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub id: TaskId,
    pub seq: Seq,
    pub goal: Content,
    pub source: String,
    pub pipeline: String,
    pub until: Option<String>,
    pub workspace: Option<WorkspaceId>,
    pub priority: Priority,
    pub deadline: Option<Timestamp>,
    pub budget: Option<Caps>,
    /// What all of it may cost, if a person said so after it was opened.
    pub money_micros: Option<u64>,
    pub by: String,
    /// The root sessions, the newest last.
    pub attempts: Vec<SessionId>,
    /// Somebody wants no more of it, and nobody tried again since.
    pub cancelled: Option<Cancellation>,
}

/// Who wanted no more of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancellation {
    pub by: String,
    pub because: Option<String>,
}

/// What a task is opened with.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    pub goal: Content,
    pub source: Source,
    pub pipeline: String,
    pub until: Option<String>,
    pub workspace: Option<WorkspaceId>,
    pub priority: Priority,
    pub deadline: Option<Timestamp>,
    pub budget: Option<Caps>,
    pub by: String,
    /// Its first root session.
    pub session: SessionId,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Another attempt, after what the one before came to.
    Attempt {
        session: SessionId,
        before: TaskState,
        by: String,
        because: Option<String>,
    },
    Set {
        change: TaskChange,
        by: String,
        because: Option<String>,
    },
    Cancel {
        now: TaskState,
        by: String,
        because: Option<String>,
    },
}

/// How a task is doing: told from the session of its newest attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    Open,
    /// It goes on when somebody decides, or after some time.
    Waits(Outcome),
    /// It was cancelled, and its sessions are being ended.
    Ending,
    Over(Outcome),
    /// The session of its newest attempt is not in this log.
    NotHere,
}

/// Why the domain says no.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("task {task} is open, so it is not tried again; `longhaul task cancel {task}` ends it first")]
    StillOpen { task: TaskId },
    #[error(
        "task {task} waits ({because}), so it is not tried again; let it go on (`longhaul task show {task}` says how), or end it with `longhaul task cancel {task}`"
    )]
    Waits { task: TaskId, because: String },
    #[error("task {task} is being ended; try again when it has ended")]
    Ending { task: TaskId },
    #[error("task {task} is completed, so it is not tried again; start another with `longhaul run`")]
    Completed { task: TaskId },
    #[error("task {task} is over: {how}; `longhaul task retry {task}` tries it again")]
    Over { task: TaskId, how: String },
    #[error("what task {task} is doing is not in this log, so nothing can be done with it here")]
    NotHere { task: TaskId },
    #[error("task {task} was tried {MOST_ATTEMPTS} times; start another with `longhaul run`")]
    TooManyAttempts { task: TaskId },
}

impl Rejection {
    /// The page that explains it.
    pub const fn code(&self) -> &'static str {
        "E0251"
    }
}

impl TaskState {
    /// By how the session of the newest attempt came out, if it is here.
    pub fn of(task: &Task, newest: Newest) -> Self {
        let is_over = matches!(newest, Newest::Closed(_));
        match newest {
            Newest::NotHere => Self::NotHere,
            _ if task.cancelled.is_some() && !is_over => Self::Ending,
            Newest::GoesOn => Self::Open,
            Newest::Halted(outcome) | Newest::Closed(outcome) => match outcome {
                Outcome::Blocked(_) | Outcome::Parked(_) => Self::Waits(outcome),
                Outcome::Completed { .. }
                | Outcome::CouldNot(_)
                | Outcome::Failed(_)
                | Outcome::Cancelled { .. } => Self::Over(outcome),
            },
        }
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Waits(_) => "waits",
            Self::Ending => "ending",
            Self::Over(outcome) => outcome.word(),
            Self::NotHere => "not here",
        }
    }

    /// Whether anything of it may still happen by itself, or when somebody says so.
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Open | Self::Waits(_) | Self::Ending => true,
            Self::Over(_) | Self::NotHere => false,
        }
    }

    pub const fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Waits(outcome) | Self::Over(outcome) => Some(outcome),
            Self::Open | Self::Ending | Self::NotHere => None,
        }
    }
}

/// What is known of the session of a task's newest attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Newest {
    NotHere,
    GoesOn,
    /// It is open, and does not go on by itself.
    Halted(Outcome),
    Closed(Outcome),
}

impl Task {
    /// The facts that make a task.
    pub fn open(new: NewTask) -> Vec<TaskEvent> {
        let NewTask { goal, source, pipeline, until, workspace, priority, deadline, budget, by, session } =
            new;
        let source = source.to_string();
        let attempted = TaskEvent::Attempted { session, by: by.clone(), because: None };
        let opened =
            TaskEvent::Opened { goal, source, pipeline, workspace, priority, deadline, budget, until, by };
        vec![opened, attempted]
    }

    /// Folds a whole history; `None` unless it begins as a task does.
    pub fn fold<'a>(id: TaskId, events: impl IntoIterator<Item = &'a TaskEvent>) -> Option<Self> {
        let mut events = events.into_iter();
        let mut task = Self::begin(id, events.next()?)?;
        events.for_each(|event| task.apply(event));
        Some(task)
    }

    /// The state after a first event; `None` if that is not an opening.
    pub fn begin(id: TaskId, first: &TaskEvent) -> Option<Self> {
        let TaskEvent::Opened { goal, source, pipeline, workspace, priority, deadline, budget, until, by } =
            first
        else {
            return None;
        };
        Some(Self {
            id,
            seq: Seq(1),
            goal: goal.clone(),
            source: source.clone(),
            pipeline: pipeline.clone(),
            until: until.clone(),
            workspace: *workspace,
            priority: *priority,
            deadline: *deadline,
            budget: *budget,
            money_micros: None,
            by: by.clone(),
            attempts: Vec::new(),
            cancelled: None,
        })
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &TaskEvent) {
        self.seq = self.seq.plus(1);
        match event {
            // A second opening cannot be decided; were it in a log, it would change nothing.
            TaskEvent::Opened { .. } => {}
            TaskEvent::Attempted { session, .. } => {
                self.attempts.push(*session);
                self.cancelled = None;
            }
            TaskEvent::Set { change, .. } => self.change(change),
            TaskEvent::Cancelled { by, because } => {
                self.cancelled = Some(Cancellation { by: by.clone(), because: because.clone() });
            }
        }
    }

    fn change(&mut self, change: &TaskChange) {
        match change {
            TaskChange::Priority(priority) => self.priority = *priority,
            TaskChange::Deadline(deadline) => self.deadline = *deadline,
            TaskChange::Budget(caps) => {
                self.budget = Some(*caps);
                self.money_micros = Some(caps.task_money_micros);
            }
        }
    }

    /// The session of the newest attempt.
    pub fn root(&self) -> Option<SessionId> {
        self.attempts.last().copied()
    }

    /// Says which facts a command would add. Reads state, changes nothing.
    pub fn decide(&self, command: Command) -> Result<Vec<TaskEvent>, Rejection> {
        match command {
            Command::Attempt { session, before, by, because } => {
                self.may_be_tried_again(&before)?;
                Ok(vec![TaskEvent::Attempted { session, by, because }])
            }
            Command::Set { change, by, because } => {
                let mut after = self.clone();
                after.change(&change);
                // What is so already adds nothing.
                let is_new = after != *self;
                Ok(if is_new { vec![TaskEvent::Set { change, by, because }] } else { Vec::new() })
            }
            Command::Cancel { now, by, because } => {
                let task = self.id;
                match now {
                    TaskState::Open | TaskState::Waits(_) => Ok(vec![TaskEvent::Cancelled { by, because }]),
                    TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_))
                        if self.cancelled.is_none() =>
                    {
                        Ok(vec![TaskEvent::Cancelled { by, because }])
                    }
                    // Whoever said so before may have died before all sessions were ended.
                    TaskState::Ending => Ok(Vec::new()),
                    TaskState::Over(outcome) => Err(Rejection::Over { task, how: outcome.to_string() }),
                    TaskState::NotHere => Err(Rejection::NotHere { task }),
                }
            }
        }
    }

    fn may_be_tried_again(&self, before: &TaskState) -> Result<(), Rejection> {
        let task = self.id;
        match before {
            TaskState::Open => Err(Rejection::StillOpen { task }),
            TaskState::Waits(outcome) => Err(Rejection::Waits { task, because: outcome.to_string() }),
            TaskState::Ending => Err(Rejection::Ending { task }),
            TaskState::NotHere => Err(Rejection::NotHere { task }),
            TaskState::Over(Outcome::Completed { .. }) => Err(Rejection::Completed { task }),
            TaskState::Over(_) if self.attempts.len() >= MOST_ATTEMPTS => {
                Err(Rejection::TooManyAttempts { task })
            }
            TaskState::Over(_) => Ok(()),
        }
    }
}
