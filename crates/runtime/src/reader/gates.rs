//! Gates as a person meets them: what is asked, by what, and what became of it.

use longhaul_core::session::channel_word;
use longhaul_core::time::rfc3339;
use longhaul_core::walk::view::gate_id;
use longhaul_events::{Channel, GateKind, NodeId, SessionEvent, SessionId, Timestamp, Verdict};
use longhaul_store::views::{GateRow, SessionRow, SessionStatus, Waiting};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Reader;
use super::artifacts::Numbering;
use crate::error::Error;

/// One gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateEntry {
    /// `<session>.<node>`.
    pub id: String,
    #[serde(skip)]
    pub session: SessionId,
    #[serde(skip)]
    pub node: NodeId,
    #[serde(skip)]
    pub accepts_channel: Channel,
    pub state: GateState,
    pub step: String,
    pub kind: GateKind,
    pub accepts: &'static str,
    pub until: String,
    pub workflow: Option<String>,
    pub goal: String,
    pub question: String,
    /// What the agent said when it came here; not told in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
}

/// What became of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateState {
    Open,
    /// Its time is over; whoever next works with the session closes it.
    Overdue,
    Answered {
        verdict: Verdict,
        by: String,
        channel: Channel,
        words: String,
        at: String,
    },
    Expired,
    /// The session went on from another point, or was closed.
    Left,
}

/// An artifact of that answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandedIn {
    pub id: String,
    pub value: Value,
}

/// The answer that led to a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Before {
    pub step: String,
    pub notes: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub vars: Map<String, Value>,
    pub artifacts: Vec<HandedIn>,
}

impl Reader {
    /// The gates that wait, the one with the nearest end first.
    pub fn gates(&self, now: Timestamp) -> Result<Vec<GateEntry>, Error> {
        let rows = self.sessions()?.into_iter().filter(|row| row.status == SessionStatus::Open);
        let mut open: Vec<(Timestamp, GateEntry)> = rows.filter_map(|row| listed(&row, now)).collect();
        open.sort_by(|one, other| (one.0, &one.1.id).cmp(&(other.0, &other.1.id)));
        Ok(open.into_iter().map(|(_, gate)| gate).collect())
    }

    /// A gate by its id, or the open gate of the session that is named.
    pub fn gate(&self, text: &str, now: Timestamp) -> Result<GateEntry, Error> {
        let unknown = || Error::NoSuchGate(text.chars().take(120).collect());
        let no_gate = |error| if matches!(error, Error::NoSuchSession(_)) { unknown() } else { error };
        if let Some((row, node)) = self.find_node(text).map_err(no_gate)? {
            return self.gate_of(&row, node, now)?.ok_or_else(unknown);
        }
        let row = self.find_session(text).map_err(no_gate)?;
        let Waiting::Gate(gate) = &row.waiting else { return Err(unknown()) };
        self.gate_of(&row, gate.gate, now)?.ok_or_else(unknown)
    }

    fn gate_of(&self, row: &SessionRow, node: NodeId, now: Timestamp) -> Result<Option<GateEntry>, Error> {
        let mut found: Option<GateEntry> = None;
        let mut answers: Vec<(NodeId, Before)> = Vec::new();
        let mut numbering = Numbering::new(row.id);
        let mut names = std::collections::BTreeMap::new();
        self.each_event(row.id, |told| {
            match &told.event {
                SessionEvent::StepHandedOut { node, step, .. } => drop(names.insert(*node, step.0.clone())),
                SessionEvent::StepFinished { node, payload, .. } if found.is_none() => {
                    let (step, payload) = (names.get(node).cloned(), self.value(payload)?);
                    let artifacts = numbering.name(*node, artifacts_in(&payload));
                    answers.push((*node, before(step.unwrap_or_default(), &payload, artifacts)));
                }
                SessionEvent::GateOpened { gate, step, kind, question, accepts, until, .. }
                    if *gate == node =>
                {
                    let state = if now >= *until { GateState::Overdue } else { GateState::Open };
                    let (kind, accepts, until, question) = (*kind, *accepts, *until, self.words(question)?);
                    let asked = Asked { node, state, kind, accepts, until, step: &step.0, question };
                    found = Some(GateEntry { before: last(&mut answers), ..entry(row, asked) });
                }
                SessionEvent::GateAnswered { gate, verdict, by, channel, words } if *gate == node => {
                    let (verdict, channel, words) = (*verdict, *channel, self.words(words)?);
                    let (by, at) = (by.clone(), told.at.clone());
                    end(&mut found, GateState::Answered { verdict, by, channel, words, at });
                }
                SessionEvent::GateExpired { gate, .. } if *gate == node => {
                    end(&mut found, GateState::Expired);
                }
                SessionEvent::Forked { from, .. } => {
                    answers.retain(|(node, _)| node < from);
                    end(&mut found, GateState::Left);
                }
                SessionEvent::Closed { .. } => end(&mut found, GateState::Left),
                SessionEvent::StepFinished { .. }
                | SessionEvent::GateOpened { .. }
                | SessionEvent::GateAnswered { .. }
                | SessionEvent::GateExpired { .. }
                | SessionEvent::Opened { .. }
                | SessionEvent::DriverTaken { .. }
                | SessionEvent::DriverRenewed { .. }
                | SessionEvent::DriverExpired { .. }
                | SessionEvent::DriverReleased { .. }
                | SessionEvent::HandleReissued { .. }
                | SessionEvent::WorkflowPinned { .. }
                | SessionEvent::VarsChanged { .. }
                | SessionEvent::WayChosen { .. }
                | SessionEvent::Decided { .. }
                | SessionEvent::LoopExhausted { .. }
                | SessionEvent::AttemptRefused { .. }
                | SessionEvent::WorkBegan { .. }
                | SessionEvent::WorkStarted { .. }
                | SessionEvent::WorkFinished { .. }
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
            Ok(())
        })?;
        Ok(found)
    }
}

/// What was answered right before.
fn last(answers: &mut Vec<(NodeId, Before)>) -> Option<Before> {
    answers.pop().map(|(_, before)| before)
}

/// Only what is still open comes to an end.
fn end(gate: &mut Option<GateEntry>, state: GateState) {
    if let Some(gate) =
        gate.as_mut().filter(|gate| matches!(gate.state, GateState::Open | GateState::Overdue))
    {
        gate.state = state;
    }
}

struct Asked<'a> {
    node: NodeId,
    state: GateState,
    kind: GateKind,
    accepts: Channel,
    until: Timestamp,
    step: &'a str,
    question: String,
}

fn listed(row: &SessionRow, now: Timestamp) -> Option<(Timestamp, GateEntry)> {
    let Waiting::Gate(gate) = &row.waiting else { return None };
    let state = if now >= gate.until { GateState::Overdue } else { GateState::Open };
    let step = row.step.as_ref().map(|step| step.0.as_str()).unwrap_or_default();
    let GateRow { gate: node, kind, accepts, until, .. } = *gate;
    let asked = Asked { node, state, kind, accepts, until, step, question: gate.question.clone() };
    Some((until, entry(row, asked)))
}

fn entry(row: &SessionRow, asked: Asked<'_>) -> GateEntry {
    GateEntry {
        id: gate_id(row.id, asked.node),
        session: row.id,
        node: asked.node,
        accepts_channel: asked.accepts,
        state: asked.state,
        step: asked.step.to_owned(),
        kind: asked.kind,
        accepts: channel_word(asked.accepts),
        until: rfc3339(asked.until),
        workflow: row.workflow.clone(),
        goal: row.goal.clone(),
        question: asked.question,
        before: None,
    }
}

fn artifacts_in(payload: &Value) -> Vec<Value> {
    payload["artifacts"].as_array().cloned().unwrap_or_default()
}

fn before(step: String, payload: &Value, artifacts: Vec<(String, Value)>) -> Before {
    Before {
        step,
        notes: payload["notes"].as_str().map(str::to_owned),
        vars: payload["vars"].as_object().cloned().unwrap_or_default(),
        artifacts: artifacts.into_iter().map(|(id, value)| HandedIn { id, value }).collect(),
    }
}
