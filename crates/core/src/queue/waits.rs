//! Why a task waits, and why one is for a person: words that `queue list` prints as they are.

use std::fmt;
use std::sync::Arc;

use longhaul_events::{TaskId, Timestamp, WorkspaceId};

use super::limits::Full;
use super::scopes::Overlap;
use super::snapshot::{Attempts, Pause, Required};
use crate::time::rfc3339;

/// Why a task waits. The first that holds, in the order of [`Waits::TABLE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    Paused(Arc<PausedBy>),
    /// For these, which are not over yet.
    After(Vec<TaskId>),
    /// For the end of the pause between two attempts.
    Pause {
        until: Timestamp,
    },
    Artifact {
        required: Required,
        until: Timestamp,
    },
    Limit(Arc<Full>),
    Overlap(Overlap),
    /// For the provider, which is not asked by too many at once.
    Provider {
        provider: String,
        until: Timestamp,
    },
}

/// What is paused, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedBy {
    /// None for all of the queue.
    pub workspace: Option<WorkspaceId>,
    pub pause: Pause,
}

/// A row of the guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub word: &'static str,
    pub when: &'static str,
}

impl Waits {
    /// Every word, with when it holds, as the guide has it.
    pub const TABLE: [Row; 7] = [
        Row { word: "paused", when: "the queue or the task's workspace is paused" },
        Row { word: "after", when: "a task that it comes after is not over" },
        Row { word: "pause", when: "its last attempt failed a moment ago" },
        Row {
            word: "artifact",
            when: "it is governed, and something that the pipeline requires is not there",
        },
        Row { word: "limit", when: "no slot is free: of all, of its workspace, its pipeline, its agent" },
        Row { word: "overlap", when: "a task that runs, or goes first, may touch the same files" },
        Row { word: "provider", when: "its provider was asked by as many new tasks as a minute allows" },
    ];

    /// The word for scripts.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Paused(_) => "paused",
            Self::After(_) => "after",
            Self::Pause { .. } => "pause",
            Self::Artifact { .. } => "artifact",
            Self::Limit(_) => "limit",
            Self::Overlap(_) => "overlap",
            Self::Provider { .. } => "provider",
        }
    }

    /// When it is over by itself, if that is known.
    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Pause { until } | Self::Artifact { until, .. } | Self::Provider { until, .. } => {
                Some(*until)
            }
            Self::Paused(_) | Self::After(_) | Self::Limit(_) | Self::Overlap(_) => None,
        }
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused(paused) => paused.fmt(f),
            Self::After(tasks) => write!(f, "comes after {}", listed(tasks)),
            Self::Pause { until } => write!(f, "is tried again at {}", rfc3339(*until)),
            Self::Artifact { required, until } => {
                write!(f, "needs {required}, which is waited for until {}", rfc3339(*until))
            }
            Self::Limit(full) => full.fmt(f),
            Self::Overlap(overlap) => overlap.fmt(f),
            Self::Provider { provider, until } => {
                write!(f, "`{provider}` is asked by no new task before {}", rfc3339(*until))
            }
        }
    }
}

impl fmt::Display for PausedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pause { by, because } = &self.pause;
        match self.workspace {
            Some(workspace) => write!(f, "the queue of {workspace} is paused by {by}")?,
            None => write!(f, "the queue is paused by {by}")?,
        }
        because.as_ref().map_or(Ok(()), |because| write!(f, ": {because}"))
    }
}

/// Why nothing more is done with a task until a person says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForPerson {
    /// These come after each other, the first after the last.
    Circle {
        tasks: Arc<[TaskId]>,
    },
    UpstreamFailed {
        task: TaskId,
        because: String,
    },
    UpstreamCancelled {
        task: TaskId,
        by: String,
    },
    UpstreamNotHere {
        task: TaskId,
    },
    AttemptsUsedUp(Attempts),
    /// What it needs did not come in time.
    ArtifactMissing {
        required: Required,
        since: Timestamp,
    },
}

impl ForPerson {
    /// Every word, with when it holds, as the guide has it.
    pub const TABLE: [Row; 6] = [
        Row { word: "circle", when: "tasks come after each other in a circle" },
        Row { word: "upstream_failed", when: "a task that it comes after failed" },
        Row { word: "upstream_cancelled", when: "a task that it comes after was cancelled" },
        Row { word: "upstream_not_here", when: "this log does not know a task that it comes after" },
        Row { word: "attempts_used_up", when: "it was tried as often as it may be" },
        Row { word: "artifact_missing", when: "something that the pipeline requires did not come in time" },
    ];

    /// The word for scripts.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Circle { .. } => "circle",
            Self::UpstreamFailed { .. } => "upstream_failed",
            Self::UpstreamCancelled { .. } => "upstream_cancelled",
            Self::UpstreamNotHere { .. } => "upstream_not_here",
            Self::AttemptsUsedUp(_) => "attempts_used_up",
            Self::ArtifactMissing { .. } => "artifact_missing",
        }
    }
}

impl fmt::Display for ForPerson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Circle { tasks } => match tasks.as_ref() {
                [_] => f.write_str("it comes after itself"),
                tasks => write!(
                    f,
                    "each of these comes after the next, and the last after the first: {}",
                    listed(tasks)
                ),
            },
            Self::UpstreamFailed { task, because } => {
                write!(f, "it comes after {task}, which failed: {because}")
            }
            Self::UpstreamCancelled { task, by } => write!(f, "it comes after {task}, which {by} cancelled"),
            Self::UpstreamNotHere { task } => {
                write!(f, "it comes after {task}, which is not in this log")
            }
            Self::AttemptsUsedUp(Attempts { made, most }) => {
                write!(f, "it was tried {made} times, and {most} are allowed")
            }
            Self::ArtifactMissing { required, since } => {
                write!(f, "it needs {required}, which did not come since {}", rfc3339(*since))
            }
        }
    }
}

impl fmt::Display for Required {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of the {}", self.artifact, self.from.word())
    }
}

fn listed(tasks: &[TaskId]) -> String {
    let tasks: Vec<String> = tasks.iter().map(TaskId::to_string).collect();
    tasks.join(", ")
}
