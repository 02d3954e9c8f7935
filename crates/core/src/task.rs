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
//! | none yet, or it waits for its turn again | `queued` | ends it | starts it now |
//! | does not get on, failed or could not, and a person has to look | `handed over` | ends what is left of the tree | a new attempt |
//! | is not in this log | `not here` | refused | refused |

mod source;
#[cfg(test)]
mod tests;

use longhaul_events::{
    Caps, Content, Orders, Priority, QueuePlace, Seq, SessionId, TaskChange, TaskEvent, TaskId, Timestamp,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use source::{BadSource, Source};

use crate::outcome::{Because, Outcome};

/// Raised whenever the same events fold to another state, or the state has another shape.
pub const FOLD_VERSION: u32 = 2;

/// The reason of a task that a person has to look at before it was ever tried.
pub const HANDED_OVER: &str = "handed_over";

/// How much of what people said is kept for the next attempt.
const MOST_TOLD: usize = 50;

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
    /// How it is to be done by whoever starts it; none for one that was started as it was opened.
    pub orders: Option<Orders>,
    pub place: QueuePlace,
    /// It waits for its turn again.
    pub requeued: Option<Requeue>,
    /// Why a person has to look, since its newest attempt.
    pub handed_over: Option<String>,
    /// What people said to it, the newest last. An attempt that starts later has not heard it.
    pub told: Vec<Content>,
}

/// Why a task waits for its turn again, and from when on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requeue {
    pub because: String,
    pub due: Timestamp,
}

/// Who wanted no more of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancellation {
    pub by: String,
    pub because: Option<String>,
}

impl Cancellation {
    /// How a task came out that was cancelled while it waited for its turn.
    fn outcome(&self) -> Outcome {
        Outcome::Cancelled { by: self.by.clone(), because: self.because.clone() }
    }
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
    pub first: First,
}

/// What becomes of a task first.
#[derive(Debug, Clone, PartialEq)]
pub enum First {
    /// It is attempted at once, by this root session.
    Attempt(SessionId),
    /// It waits for its turn.
    Queue(Orders),
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
    /// It shall wait for its turn again.
    Requeue {
        before: TaskState,
        because: String,
        due: Timestamp,
        by: String,
    },
    /// A person shall look.
    HandOver {
        now: TaskState,
        because: String,
        by: String,
    },
    Tell {
        now: TaskState,
        words: Content,
        by: String,
    },
    Reply {
        entry: String,
        words: Option<String>,
        by: String,
    },
}

/// How a task is doing: told from the session of its newest attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// It waits for its turn.
    Queued,
    Open,
    /// It goes on when somebody decides, or after some time.
    Waits(Outcome),
    /// It was cancelled, and its sessions are being ended.
    Ending,
    /// It came to this, and a person has to look before anything more is done.
    HandedOver(Outcome),
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
    #[error(
        "task {task} is completed, so there is nothing to end; `longhaul task show {task}` tells what it came to"
    )]
    NothingToEnd { task: TaskId },
    #[error("what task {task} is doing is not in this log, so nothing can be done with it here")]
    NotHere { task: TaskId },
    #[error("task {task} is over ({how}), and nobody works on it who could hear it")]
    NobodyHears { task: TaskId, how: String },
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
        if newest == Newest::NotHere {
            return Self::NotHere;
        }
        match (&task.cancelled, newest) {
            (Some(_), Newest::Closed(outcome)) if task.requeued.is_none() => Self::Over(outcome),
            (Some(who), Newest::None | Newest::Closed(_)) => Self::Over(who.outcome()),
            (Some(_), Newest::NotHere | Newest::GoesOn | Newest::Halted(_)) => Self::Ending,
            (None, _) if task.requeued.is_some() => Self::Queued,
            (None, newest) => Self::by_itself(task, newest),
        }
    }

    /// How a task is doing that nobody cancelled and that does not wait for its turn again.
    fn by_itself(task: &Task, newest: Newest) -> Self {
        match (newest, &task.handed_over) {
            (Newest::NotHere, _) => Self::NotHere,
            (Newest::None, None) => Self::Queued,
            (Newest::None | Newest::GoesOn, Some(because)) => {
                let (reason, because) = (HANDED_OVER.to_owned(), because.clone());
                Self::HandedOver(Outcome::Blocked(Because { reason, because }))
            }
            (Newest::GoesOn, None) => Self::Open,
            (Newest::Halted(outcome) | Newest::Closed(outcome), handed_over) => match outcome {
                Outcome::Blocked(_) | Outcome::Parked(_) => Self::Waits(outcome),
                Outcome::CouldNot(_) | Outcome::Failed(_) if handed_over.is_some() => {
                    Self::HandedOver(outcome)
                }
                Outcome::Completed { .. }
                | Outcome::CouldNot(_)
                | Outcome::Failed(_)
                | Outcome::Cancelled { .. } => Self::Over(outcome),
            },
        }
    }

    pub const fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Open => "open",
            Self::Waits(_) => "waits",
            Self::Ending => "ending",
            Self::HandedOver(_) => "handed over",
            Self::Over(outcome) => outcome.word(),
            Self::NotHere => "not here",
        }
    }

    /// Whether anything of it may still happen by itself, or when somebody says so.
    pub const fn is_open(&self) -> bool {
        match self {
            Self::Queued | Self::Open | Self::Waits(_) | Self::Ending | Self::HandedOver(_) => true,
            Self::Over(_) | Self::NotHere => false,
        }
    }

    pub const fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Waits(outcome) | Self::HandedOver(outcome) | Self::Over(outcome) => Some(outcome),
            Self::Queued | Self::Open | Self::Ending | Self::NotHere => None,
        }
    }
}

/// What is known of the session of a task's newest attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Newest {
    /// There was no attempt yet.
    None,
    NotHere,
    GoesOn,
    /// It is open, and does not go on by itself.
    Halted(Outcome),
    Closed(Outcome),
}

impl Task {
    /// The facts that make a task.
    pub fn open(new: NewTask) -> Vec<TaskEvent> {
        let NewTask { goal, source, pipeline, until, workspace, priority, deadline, budget, by, first } = new;
        let source = source.to_string();
        let then = match first {
            First::Attempt(session) => TaskEvent::Attempted { session, by: by.clone(), because: None },
            First::Queue(orders) => TaskEvent::Queued { orders, by: by.clone() },
        };
        let opened =
            TaskEvent::Opened { goal, source, pipeline, workspace, priority, deadline, budget, until, by };
        vec![opened, then]
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
            orders: None,
            place: QueuePlace::Usual,
            requeued: None,
            handed_over: None,
            told: Vec::new(),
        })
    }

    /// Takes in one more fact. Total: what is in the log has happened.
    pub fn apply(&mut self, event: &TaskEvent) {
        self.seq = self.seq.plus(1);
        match event {
            // A second opening cannot be decided; were it in a log, it would change nothing. What a reply settled is told from
            // the events.
            TaskEvent::Opened { .. } | TaskEvent::Replied { .. } => {}
            TaskEvent::Attempted { session, .. } => {
                self.attempts.push(*session);
                self.cancelled = None;
                self.requeued = None;
                self.handed_over = None;
            }
            TaskEvent::Set { change, .. } => self.change(change),
            TaskEvent::Cancelled { by, because } => {
                self.cancelled = Some(Cancellation { by: by.clone(), because: because.clone() });
            }
            TaskEvent::Queued { orders, .. } => self.orders = Some(orders.clone()),
            TaskEvent::Requeued { because, due, .. } => {
                self.requeued = Some(Requeue { because: because.clone(), due: *due });
                self.handed_over = None;
                // Whoever wanted no more of it, somebody wants it again.
                self.cancelled = None;
            }
            TaskEvent::HandedOver { because, .. } => {
                self.handed_over = Some(because.clone());
                self.requeued = None;
            }
            TaskEvent::Told { words, .. } => {
                self.told.push(words.clone());
                self.told.drain(..self.told.len().saturating_sub(MOST_TOLD));
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
            TaskChange::Place(place) => self.place = *place,
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
                    TaskState::Queued | TaskState::Open | TaskState::Waits(_) | TaskState::HandedOver(_) => {
                        Ok(vec![TaskEvent::Cancelled { by, because }])
                    }
                    TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_))
                        if self.cancelled.is_none() =>
                    {
                        Ok(vec![TaskEvent::Cancelled { by, because }])
                    }
                    // Whoever said so before may have died before all sessions were ended.
                    TaskState::Ending => Ok(Vec::new()),
                    TaskState::Over(Outcome::Completed { .. }) => Err(Rejection::NothingToEnd { task }),
                    TaskState::Over(outcome) => Err(Rejection::Over { task, how: outcome.to_string() }),
                    TaskState::NotHere => Err(Rejection::NotHere { task }),
                }
            }
            Command::Requeue { before: TaskState::Queued, .. } => Ok(Vec::new()),
            Command::Requeue { before, because, due, by } => {
                // An attempt that does not get on is given up: whoever makes the next one ends it first.
                if before != TaskState::Open {
                    self.may_be_tried_again(&before)?;
                }
                Ok(vec![TaskEvent::Requeued { because, due, by }])
            }
            Command::HandOver { now, because, by } => self.hand_over(&now, because, by),
            Command::Tell { now, words, by } => self.tell(&now, words, by),
            Command::Reply { entry, words, by } => Ok(vec![TaskEvent::Replied { entry, words, by }]),
        }
    }

    /// The daemon's word that it does nothing more. What a person wants no more of stays as it is.
    fn hand_over(&self, now: &TaskState, because: String, by: String) -> Result<Vec<TaskEvent>, Rejection> {
        let task = self.id;
        match now {
            TaskState::Queued
            | TaskState::Open
            | TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_)) => {
                Ok(vec![TaskEvent::HandedOver { because, by }])
            }
            TaskState::HandedOver(_) => Ok(Vec::new()),
            TaskState::Waits(outcome) => Err(Rejection::Waits { task, because: outcome.to_string() }),
            TaskState::Ending => Err(Rejection::Ending { task }),
            TaskState::Over(outcome) => Err(Rejection::Over { task, how: outcome.to_string() }),
            TaskState::NotHere => Err(Rejection::NotHere { task }),
        }
    }

    fn tell(&self, now: &TaskState, words: Content, by: String) -> Result<Vec<TaskEvent>, Rejection> {
        let task = self.id;
        match now {
            TaskState::Queued
            | TaskState::Open
            | TaskState::Waits(_)
            | TaskState::HandedOver(_)
            | TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_)) => {
                Ok(vec![TaskEvent::Told { words, by }])
            }
            TaskState::Ending => Err(Rejection::Ending { task }),
            TaskState::Over(outcome) => Err(Rejection::NobodyHears { task, how: outcome.to_string() }),
            TaskState::NotHere => Err(Rejection::NotHere { task }),
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
            TaskState::Over(_) | TaskState::HandedOver(_) if self.attempts.len() >= MOST_ATTEMPTS => {
                Err(Rejection::TooManyAttempts { task })
            }
            TaskState::Queued | TaskState::Over(_) | TaskState::HandedOver(_) => Ok(()),
        }
    }
}
