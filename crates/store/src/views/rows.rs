//! The rows of the views, and how a decision changes them.

mod concerns;
mod costs;
mod driven;
mod service;
mod task;
mod trigger;

use longhaul_core::workflow::scope::cut;
use longhaul_core::workspace::Workspace;
use longhaul_events::{
    Channel, Checkout, CloseOutcome, Content, Driver, GateKind, NodeId, Seq, SessionEvent, SessionId, StepId,
    StreamId, StreamKind, TaskId, Timestamp, WorkspaceEvent, WorkspaceId,
};
use serde::{Deserialize, Serialize};

pub use concerns::{Concerns, QuestionRow, Reached};
pub use costs::{CostRow, Costs};
pub use driven::DrivenRow;
pub use service::ServiceRow;
pub use task::TaskRow;
pub use trigger::TriggerRow;

use crate::log::{DamagedRow, Decision};

/// The longest goal that a list shows.
const GOAL_LETTERS: usize = 120;
/// How much of a session's notes can be searched.
const NOTES_LETTERS: usize = 4000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    Session(Box<SessionRow>),
    Task(Box<TaskRow>),
    Workspace(WorkspaceRow),
    Trigger(TriggerRow),
    Service(ServiceRow),
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub seq: Seq,
    pub goal: String,
    pub workspace: Option<WorkspaceId>,
    pub parent: Option<SessionId>,
    pub task: Option<TaskId>,
    pub status: SessionStatus,
    /// The step that is out.
    pub step: Option<StepId>,
    pub steps_finished: u64,
    pub waiting: Waiting,
    pub workflow: Option<String>,
    pub checkout: Option<Checkout>,
    /// The newest notes, cut to what is worth searching.
    pub notes: String,
    pub driver: Option<Driver>,
    pub driven: DrivenRow,
    /// What a person may have to know of it.
    pub concerns: Concerns,
    pub opened_at: Timestamp,
    pub updated_at: Timestamp,
    pub damage: Option<String>,
}

/// What a session waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    Nothing,
    Agent,
    Work,
    Gate(GateRow),
    /// A person, with the first reason.
    Parked {
        code: String,
        because: String,
    },
}

/// An open gate in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateRow {
    pub gate: NodeId,
    pub kind: GateKind,
    pub question: String,
    pub accepts: Channel,
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    Open,
    Closed(CloseOutcome),
}

/// A workspace in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceRow {
    pub workspace: Workspace,
    pub registered_at: Timestamp,
    pub damage: Option<String>,
}

impl Row {
    pub(super) const fn kind(&self) -> StreamKind {
        match self {
            Self::Session(_) => StreamKind::Session,
            Self::Task(_) => StreamKind::Task,
            Self::Workspace(_) => StreamKind::Workspace,
            Self::Trigger(_) => StreamKind::Trigger,
            Self::Service(_) => StreamKind::Daemon,
        }
    }

    pub(super) fn into_session(self) -> Option<SessionRow> {
        match self {
            Self::Session(row) => Some(*row),
            Self::Task(_) | Self::Workspace(_) | Self::Trigger(_) | Self::Service(_) => None,
        }
    }

    pub(super) fn into_task(self) -> Option<TaskRow> {
        match self {
            Self::Task(row) => Some(*row),
            Self::Session(_) | Self::Workspace(_) | Self::Trigger(_) | Self::Service(_) => None,
        }
    }

    pub(super) fn into_workspace(self) -> Option<WorkspaceRow> {
        match self {
            Self::Workspace(row) if !row.workspace.removed => Some(row),
            Self::Workspace(_) | Self::Session(_) | Self::Task(_) | Self::Trigger(_) | Self::Service(_) => {
                None
            }
        }
    }

    pub(super) fn into_trigger(self) -> Option<TriggerRow> {
        match self {
            Self::Trigger(row) => Some(row),
            Self::Session(_) | Self::Task(_) | Self::Workspace(_) | Self::Service(_) => None,
        }
    }

    pub(super) fn into_service(self) -> Option<ServiceRow> {
        match self {
            Self::Service(row) => Some(row),
            Self::Session(_) | Self::Task(_) | Self::Workspace(_) | Self::Trigger(_) => None,
        }
    }

    /// The row after one more decision; `None` for streams that no view shows.
    pub(super) fn after(before: Option<Self>, decision: Result<Decision, DamagedRow>) -> Option<Self> {
        let (name, at) = match &decision {
            Ok(decision) => (&decision.stream, decision.at),
            Err(damaged) => (&damaged.stream, Timestamp(0)),
        };
        let stream: StreamId = name.parse().ok()?;
        let mut row = before.unwrap_or_else(|| Self::new(stream, at));
        if row.damage().is_some() {
            return Some(row); // what follows a gap cannot be told
        }
        let result = decision.map_err(|damaged| damaged.reason).and_then(|decision| row.take(&decision));
        if let Err(reason) = result {
            *row.damage() = Some(reason);
        }
        Some(row)
    }

    fn new(stream: StreamId, at: Timestamp) -> Self {
        match stream {
            StreamId::Session(id) => Self::Session(Box::new(SessionRow {
                id,
                seq: Seq(0),
                goal: String::new(),
                workspace: None,
                parent: None,
                task: None,
                status: SessionStatus::Open,
                step: None,
                steps_finished: 0,
                waiting: Waiting::Nothing,
                workflow: None,
                checkout: None,
                notes: String::new(),
                driver: None,
                driven: DrivenRow::default(),
                concerns: Concerns::default(),
                opened_at: at,
                updated_at: at,
                damage: None,
            })),
            StreamId::Task(id) => Self::Task(Box::new(TaskRow::new(id, at))),
            StreamId::Workspace(id) => Self::Workspace(WorkspaceRow {
                workspace: Workspace::fold(id, []),
                registered_at: at,
                damage: None,
            }),
            StreamId::Trigger(id) => Self::Trigger(TriggerRow::new(id, at)),
            StreamId::Daemon(id) => Self::Service(ServiceRow::new(id, at)),
        }
    }

    /// The number of the last event that it shows.
    pub(super) fn seq(&self) -> Seq {
        match self {
            Self::Session(row) => row.seq,
            Self::Task(row) => row.seq,
            Self::Workspace(row) => row.workspace.seq,
            Self::Trigger(row) => row.history.seq,
            Self::Service(row) => row.service.seq,
        }
    }

    fn damage(&mut self) -> &mut Option<String> {
        match self {
            Self::Session(row) => &mut row.damage,
            Self::Task(row) => &mut row.damage,
            Self::Workspace(row) => &mut row.damage,
            Self::Trigger(row) => &mut row.damage,
            Self::Service(row) => &mut row.damage,
        }
    }

    fn take(&mut self, decision: &Decision) -> Result<(), String> {
        let readable = |error: longhaul_events::DecodeError| error.to_string();
        let seq = self.seq();
        if decision.seq != seq.plus(1) {
            return Err(format!("event {} is missing", seq.plus(1)));
        }
        match self {
            Self::Session(row) => {
                for (event, index) in decision.events().map_err(readable)?.iter().zip(0..) {
                    row.apply(event);
                    row.driven.apply(decision.at, event);
                    row.concerns.apply(decision.seq.plus(index), decision.at, event);
                }
                row.seq = decision.last_seq();
                row.updated_at = decision.at;
            }
            Self::Task(row) => row.take(decision)?,
            Self::Workspace(row) => {
                let events: Vec<WorkspaceEvent> = decision.events().map_err(readable)?;
                events.iter().for_each(|event| row.workspace.apply(event));
            }
            Self::Trigger(row) => row.take(decision)?,
            Self::Service(row) => row.take(decision)?,
        }
        Ok(())
    }
}

impl SessionRow {
    fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Opened { key: _, goal, workspace, parent, task } => {
                self.goal = shown(goal);
                self.workspace = *workspace;
                self.parent = *parent;
                self.task = *task;
            }
            SessionEvent::DriverTaken { epoch: _, driver, expires_at: _ } => {
                self.driver = Some(driver.clone());
            }
            SessionEvent::DriverExpired { .. } | SessionEvent::DriverReleased { .. } => self.driver = None,
            SessionEvent::StepHandedOut { step, .. } | SessionEvent::Unparked { step, .. } => {
                self.wait(step, Waiting::Agent);
            }
            SessionEvent::StepFinished { payload, .. } => {
                self.step = None;
                self.waiting = Waiting::Nothing;
                self.steps_finished += 1;
                self.note(payload);
            }
            SessionEvent::Closed { outcome } => {
                self.driver = None;
                self.step = None;
                self.waiting = Waiting::Nothing;
                self.status = SessionStatus::Closed(outcome.clone());
            }
            SessionEvent::WorkflowPinned { id, checkout, .. } => {
                self.workflow = Some(id.clone());
                self.checkout.clone_from(checkout);
            }
            SessionEvent::WorkBegan { step, .. } => self.wait(step, Waiting::Work),
            SessionEvent::GateOpened { gate, step, kind, question, accepts, until, .. } => {
                let (kind, accepts, until) = (*kind, *accepts, *until);
                let gate = GateRow { gate: *gate, kind, question: shown(question), accepts, until };
                self.wait(step, Waiting::Gate(gate));
            }
            SessionEvent::Parked { step, reasons, .. } => {
                let first = reasons.first().map(|first| (first.code.clone(), first.message.clone()));
                let (code, because) = first.unwrap_or_default();
                self.wait(step, Waiting::Parked { code, because });
            }
            SessionEvent::WorkFinished { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::GateExpired { .. } => self.waiting = Waiting::Nothing,
            SessionEvent::Forked { restored, .. } => {
                self.waiting = Waiting::Nothing;
                self.status = SessionStatus::Open;
                self.step = restored.as_ref().map(|restored| restored.step.clone()).or(self.step.take());
            }
            SessionEvent::Continued { .. } => self.status = SessionStatus::Open,
            SessionEvent::Checkpointed { notes, .. } => self.note(notes),
            SessionEvent::DriverRenewed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Agent { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::Rewound { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
    }
}

impl SessionRow {
    fn wait(&mut self, step: &StepId, waiting: Waiting) {
        self.step = Some(step.clone());
        self.waiting = waiting;
    }

    /// Keeps the newest notes, so that a session can be found by what was written.
    fn note(&mut self, content: &Content) {
        let Content::Inline(value) = content else { return };
        let Some(notes) = value["notes"].as_str().or(value.as_str()) else { return };
        self.notes.push_str(notes);
        self.notes.push('\n');
        let excess = self.notes.chars().count().saturating_sub(NOTES_LETTERS);
        self.notes = self.notes.chars().skip(excess).collect();
    }
}

fn shown(goal: &Content) -> String {
    match goal {
        Content::Inline(value) => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            cut(&text, GOAL_LETTERS)
        }
        Content::Blob(blob) => format!("({} bytes)", blob.bytes),
    }
}
