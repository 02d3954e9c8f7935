//! What of an import a person has to vouch for.
//!
//! The chain has no key: whoever can write a file can write a history that verifies. So nothing in an export
//! proves that a person answered a gate, that a step led where it says, or that anybody here wanted a command run.

use std::collections::{BTreeMap, BTreeSet};

use longhaul_core::workflow::Workflow;
use longhaul_events::{
    Channel, Content, Digest, NodeId, Seq, SessionEvent, SessionId, StreamId, TaskEvent, TaskId,
    Verdict as Answer,
};
use rusqlite::Connection;

use crate::error::StoreError;
use crate::log::Decision;
use crate::sqlite::blobs::BlobFiles;
use crate::sqlite::read::{self, Span};
use crate::sqlite::rows::HeadRow;

/// What would count, once it is in, as if it had happened here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    pub answers: Vec<AnsweredGate>,
    /// What workflows run that come with it, or that its sessions follow.
    pub commands: BTreeSet<String>,
    /// Workflows that cannot be looked into, or whose content is not what their digest names.
    pub doubtful: BTreeSet<Digest>,
    /// Sessions that are here, have gates or commands, and would go on by what the export says.
    pub going_on: BTreeSet<SessionId>,
    /// Tasks that would be started by themselves when it is their turn.
    pub queued: BTreeSet<TaskId>,
}

/// An answer to a gate, as an export tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredGate {
    pub session: SessionId,
    pub gate: NodeId,
    pub verdict: Answer,
    pub by: String,
    pub channel: Channel,
}

impl Claims {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Gathers claims while the lines of an export go by. Contents come after the decisions that name them, so what
/// lies in them is judged at the end.
#[derive(Default)]
pub(super) struct Gathering {
    claims: Claims,
    pinned: BTreeSet<Digest>,
    /// Where the sessions ended before: at 0 those that are new here.
    ends: BTreeMap<SessionId, Seq>,
}

impl Gathering {
    /// A decision that is new here, behind what `here` says of its session.
    pub(super) fn decision(&mut self, decision: &Decision, here: Option<&HeadRow>) -> Result<(), StoreError> {
        let session = match decision.stream.parse() {
            Ok(StreamId::Session(session)) => session,
            Ok(StreamId::Task(task)) => return self.task(task, decision),
            Ok(StreamId::Workspace(_) | StreamId::Trigger(_) | StreamId::Daemon(_)) | Err(_) => return Ok(()),
        };
        self.ends.entry(session).or_insert(here.map_or(Seq(0), |here| here.head.seq));
        for event in decision.readable_events::<SessionEvent>()? {
            self.event(session, event);
        }
        Ok(())
    }

    fn task(&mut self, task: TaskId, decision: &Decision) -> Result<(), StoreError> {
        let events = decision.readable_events::<TaskEvent>()?;
        let waits =
            |event: &TaskEvent| matches!(event, TaskEvent::Queued { .. } | TaskEvent::Requeued { .. });
        if events.iter().any(waits) {
            self.claims.queued.insert(task);
        }
        Ok(())
    }

    fn event(&mut self, session: SessionId, event: SessionEvent) {
        match event {
            SessionEvent::GateAnswered { gate, verdict, by, channel, words: _ } => {
                self.claims.answers.push(AnsweredGate { session, gate, verdict, by, channel });
            }
            SessionEvent::WorkflowPinned { hash, workflow, .. } => match workflow {
                Content::Inline(value) => self.judge(hash, serde_json::from_value(value).ok().as_ref()),
                Content::Blob(blob) => {
                    self.pinned.insert(blob.sha256);
                }
            },
            SessionEvent::Opened { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::StepHandedOut { .. }
            | SessionEvent::StepFinished { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::Forked { .. }
            | SessionEvent::Closed { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::AttemptRefused { .. }
            | SessionEvent::WorkBegan { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateOpened { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::Parked { .. }
            | SessionEvent::Unparked { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Agent { .. }
            | SessionEvent::Rewound { .. }
            | SessionEvent::Continued { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => {}
        }
    }

    /// A content that is new here. A session may have pinned it long ago, and have waited for it since.
    pub(super) fn content(&mut self, hash: Digest, bytes: &[u8], redacted: Option<Digest>) {
        let Ok(workflow) = serde_json::from_slice::<Workflow>(bytes) else { return };
        self.judge(hash, Some(&workflow));
        if redacted.is_some() {
            self.claims.doubtful.insert(hash);
        }
    }

    fn judge(&mut self, hash: Digest, workflow: Option<&Workflow>) {
        match workflow {
            Some(workflow) => self.claims.commands.extend(workflow.commands()),
            None => {
                self.claims.doubtful.insert(hash);
            }
        }
    }

    /// The sessions that go on, and were here before.
    pub(super) fn going_on(&self) -> impl Iterator<Item = (SessionId, Seq)> {
        self.ends.iter().map(|(session, end)| (*session, *end)).filter(|(_, end)| *end > Seq(0))
    }

    /// All that is claimed, after the last line.
    pub(super) fn finish(mut self, connection: &Connection, blobs: &BlobFiles) -> Result<Claims, StoreError> {
        for hash in std::mem::take(&mut self.pinned) {
            let workflow = stored_workflow(connection, blobs, hash)?;
            self.judge(hash, workflow.as_ref());
        }
        let mut going_on = BTreeSet::new();
        for (session, end) in self.going_on() {
            if followed(connection, blobs, (session, end))?.iter().any(|one| binds(one.as_ref())) {
                going_on.insert(session);
            }
        }
        Ok(Claims { going_on, ..self.claims })
    }
}

/// Whether it matters how a session came to where it is. What cannot be read may hold anything.
fn binds(workflow: Option<&Workflow>) -> bool {
    workflow.is_none_or(|workflow| workflow.runs_commands() || workflow.has_gates())
}

/// What a session had pinned up to an event; `None` for what cannot be read.
fn followed(
    connection: &Connection,
    blobs: &BlobFiles,
    (session, end): (SessionId, Seq),
) -> Result<Vec<Option<Workflow>>, StoreError> {
    let stream = StreamId::from(session).to_string();
    let Some(head) = HeadRow::load(connection, &stream)? else { return Ok(Vec::new()) };
    let rows = match read::rows_from(connection, &stream, &head, Span::ALL) {
        Err(StoreError::Quarantined { .. } | StoreError::Damaged { .. }) => return Ok(vec![None]),
        rows => rows?,
    };
    let mut workflows = Vec::new();
    for row in rows.into_iter().filter(|row| row.decision.seq <= end) {
        let events = row.verify().ok().and_then(|decision| decision.events::<SessionEvent>().ok());
        let Some(events) = events else { return Ok(vec![None]) };
        for event in events {
            if let SessionEvent::WorkflowPinned { workflow, .. } = event {
                workflows.push(match workflow {
                    Content::Inline(value) => serde_json::from_value(value).ok(),
                    Content::Blob(blob) => stored_workflow(connection, blobs, blob.sha256)?,
                });
            }
        }
    }
    Ok(workflows)
}

fn stored_workflow(
    connection: &Connection,
    blobs: &BlobFiles,
    hash: Digest,
) -> Result<Option<Workflow>, StoreError> {
    match blobs.read(connection, hash) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(StoreError::Blob { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
