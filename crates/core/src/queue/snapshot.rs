//! All that the plan of the queue looks at, as it was at one moment.

use std::collections::BTreeMap;

use longhaul_events::{Priority, TaskId, Timestamp, WorkspaceId};

use super::bucket::Buckets;
use super::limits::Limits;

/// The queue and what runs beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub now: Timestamp,
    /// In any order.
    pub queued: Vec<Queued>,
    pub running: Vec<Running>,
    pub limits: Limits,
    pub buckets: Buckets,
    pub paused: Paused,
    pub unknown_scope: UnknownScope,
}

/// What a task takes while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub task: TaskId,
    /// None outside of any repository.
    pub workspace: Option<WorkspaceId>,
    pub pipeline: String,
    /// Who is asked, by name.
    pub agent: Option<String>,
    /// Who answers for its model; none for what asks nobody, such as a rehearsal.
    pub provider: Option<String>,
    /// Patterns of the paths that it is going to touch; none where nobody said so.
    pub scope: Vec<String>,
}

/// A task that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    pub work: Work,
    pub priority: Priority,
    pub deadline: Option<Timestamp>,
    pub since: Timestamp,
    /// Its place in the log: who came first goes first, all else being equal.
    pub position: u64,
    pub place: Place,
    /// What must be completed before it.
    pub after: Vec<Upstream>,
    pub mode: Mode,
    /// What a governed task needs before it starts.
    pub awaited: Vec<Awaited>,
    pub attempts: Attempts,
    /// Not before then: the pause between two attempts.
    pub due: Option<Timestamp>,
}

/// A task that was started and is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub work: Work,
    pub state: RunningState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningState {
    Going,
    /// It waits for somebody or something, and holds no slot and no files.
    Parked,
}

/// Where a person put a task in the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// Before all others; of two, the one that was put there later.
    First { since: Timestamp },
    /// Where its rank puts it.
    #[default]
    Usual,
    /// As if it had come at that moment with nothing that speaks for it: behind all that are there, and not behind all that
    /// ever come.
    Last { since: Timestamp },
}

/// A task that another one comes after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub task: TaskId,
    pub state: UpstreamState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamState {
    /// It waits, runs, or is tried again.
    Open,
    Completed,
    Failed {
        because: String,
    },
    Cancelled {
        by: String,
    },
    /// This log does not know it.
    NotHere,
}

/// Whether a task starts as soon as it may.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Autonomous,
    /// It waits for what the pipeline requires.
    Governed,
}

impl Mode {
    /// What people write for each.
    pub const WORDS: [(&'static str, Self); 2] =
        [("autonomous", Self::Autonomous), ("governed", Self::Governed)];
}

/// Something that a pipeline wants to be there before a governed task starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Required {
    pub artifact: String,
    pub from: ArtifactFrom,
    /// After that a person is asked.
    pub wait_ms: u64,
}

/// The same, as it is with one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    pub required: Required,
    pub state: ArtifactState,
    /// Since when it is waited for.
    pub since: Timestamp,
}

impl Awaited {
    /// When a person is asked.
    pub const fn until(&self) -> Timestamp {
        self.since.plus_ms(self.required.wait_ms)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactState {
    There,
    NotYet,
}

/// Where a required artifact is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactFrom {
    /// With the item that the task is for.
    Item,
    /// A path in the files that the task starts from.
    Workspace,
}

impl ArtifactFrom {
    /// What people write for each.
    pub const WORDS: [(&'static str, Self); 2] = [("item", Self::Item), ("workspace", Self::Workspace)];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Item => "item",
            Self::Workspace => "workspace",
        }
    }
}

/// How often a task was tried, and how often it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempts {
    pub made: u32,
    pub most: u32,
}

impl Attempts {
    pub const fn are_used_up(self) -> bool {
        self.made >= self.most
    }
}

/// What is paused, and by whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paused {
    pub queue: Option<Pause>,
    pub workspaces: BTreeMap<WorkspaceId, Pause>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    pub by: String,
    pub because: Option<String>,
}

/// What becomes of a task of which nobody said what it is going to touch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownScope {
    /// It runs beside others, and that is told.
    #[default]
    Run,
    /// It runs alone in its workspace.
    Serialise,
}

impl UnknownScope {
    /// What people write for each.
    pub const WORDS: [(&'static str, Self); 2] = [("run", Self::Run), ("serialise", Self::Serialise)];
}
