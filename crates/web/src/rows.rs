//! What the control API shows, for people who ask with the command line and for programs. A field is added, never changed.

use longhaul_runtime::TaskView;
use longhaul_runtime::control::{QueuedTask, Retried};
use longhaul_runtime::intake::Trouble;
use longhaul_runtime::lifecycle::Condition;
use longhaul_runtime::types::{Timestamp, rfc3339};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the daemon is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusRow {
    pub version: String,
    pub process: u32,
    /// `starting`, `well` or `unwell`.
    pub health: String,
    /// Why it is unwell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Where requests to triggers are taken, if anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// How many tasks wait for their turn.
    pub queued: usize,
    /// How many are being done.
    pub running: usize,
    /// How many wait for somebody or something, and hold no slot.
    pub waiting: usize,
    /// How many a person has to look at.
    pub handed_over: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseRow>,
    /// Workspaces that are paused by themselves.
    pub paused_workspaces: Vec<PauseRow>,
    /// What a person has to put right.
    pub troubles: Vec<TroubleRow>,
}

/// Nothing new is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PauseRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Something that a person has to put right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TroubleRow {
    pub about: String,
    pub problem: String,
    pub remedy: String,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRow {
    pub id: String,
    /// `queued`, `open`, `waits`, `ending`, `handed over`, `completed`, `failed`, `could not`, `cancelled`; `not here`.
    pub state: String,
    /// What it came to, or what it waits for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub goal: String,
    pub source: String,
    pub pipeline: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    pub priority: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    pub attempts: usize,
    /// The root session of the newest attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub money_micros: u64,
    pub opened_at: String,
    pub updated_at: String,
}

/// A task that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueRow {
    pub id: String,
    /// Counted from one; none before the daemon has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// What put it there: `score 7: priority high 4, …`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Why it has not started, in words.
    pub waits: String,
    /// The same in one word: `paused`, `after`, `limit`, …; `daemon` if none runs.
    pub waits_for: String,
    pub priority: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    pub pipeline: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub source: String,
    pub attempts: usize,
    pub opened_at: String,
    /// In milliseconds.
    pub age_ms: u64,
    pub goal: String,
}

/// A trigger, and what came of it so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerRow {
    /// The workspace and the id, as in `shop/nightly-audit`.
    pub name: String,
    /// `ok`, `off`, `untrusted`, `invalid` or `unserved`.
    pub state: String,
    /// `webhook`, `schedule`, `github` or `hand`.
    pub start: String,
    /// Where its requests go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_task: Option<String>,
    pub tasks: u64,
    pub duplicates: u64,
    pub not_wanted: u64,
    pub refused: u64,
    pub skipped: u64,
}

/// A task that a command was about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoneRow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Whether anything changed by it.
    pub changed: bool,
    /// `queued`, `started` or `handed`, for a task that is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub became: Option<String>,
    pub warnings: Vec<String>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorRow {
    pub error: ErrorBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// `longhaul explain CODE` says more.
    pub code: Option<String>,
    pub message: String,
}

impl TaskRow {
    pub fn of(view: &TaskView) -> Self {
        Self {
            id: view.id.to_string(),
            state: view.state.word().to_owned(),
            outcome: view.state.outcome().map(ToString::to_string),
            goal: view.goal.clone(),
            source: view.task.source.clone(),
            pipeline: view.task.pipeline.clone(),
            workspace: view.task.workspace.map(|id| id.to_string()),
            priority: view.task.priority.word().to_owned(),
            deadline: view.task.deadline.map(rfc3339),
            attempts: view.task.attempts.len(),
            session: view.task.root().map(|root| root.to_string()),
            money_micros: view.spent.money_micros,
            opened_at: rfc3339(view.opened_at),
            updated_at: rfc3339(view.updated_at),
        }
    }
}

impl QueueRow {
    pub fn of(queued: &QueuedTask, now: Timestamp) -> Self {
        let view = &queued.view;
        Self {
            id: view.id.to_string(),
            rank: queued.rank,
            because: queued.because.clone(),
            waits: queued.waits.clone(),
            waits_for: queued.waits_for.to_owned(),
            priority: view.task.priority.word().to_owned(),
            deadline: view.task.deadline.map(rfc3339),
            workspace: view.task.workspace.map(|id| id.to_string()),
            pipeline: view.task.pipeline.clone(),
            agent: view.task.orders.as_ref().and_then(|orders| orders.agent.clone()),
            source: view.task.source.clone(),
            attempts: view.task.attempts.len(),
            opened_at: rfc3339(view.opened_at),
            age_ms: now.since_ms(view.opened_at),
            goal: view.goal.clone(),
        }
    }
}

impl TroubleRow {
    pub fn of(trouble: Trouble) -> Self {
        let Trouble { about, problem, remedy } = trouble;
        Self { about, problem, remedy }
    }
}

impl DoneRow {
    /// What a command without a task came to.
    pub const fn changed(changed: bool) -> Self {
        Self { task: None, changed, became: None, warnings: Vec::new() }
    }

    pub fn of_task(id: impl std::fmt::Display) -> Self {
        Self { task: Some(id.to_string()), changed: true, became: None, warnings: Vec::new() }
    }

    pub(crate) fn retried(self, retried: &Retried) -> Self {
        let became = match retried {
            Retried::Queued => "queued",
            Retried::Started(_) => "started",
            Retried::Handed => "handed",
        };
        Self { became: Some(became.to_owned()), ..self }
    }
}

/// The words for how a daemon is doing, and why it is not well.
pub(crate) fn health_words(condition: Condition) -> (String, Option<String>) {
    match condition {
        Condition::Starting => ("starting".to_owned(), None),
        Condition::Healthy => ("well".to_owned(), None),
        Condition::Troubled(because) => ("unwell".to_owned(), Some(because)),
    }
}
