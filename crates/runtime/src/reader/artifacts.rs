//! Artifacts: what agents handed in as data, read from the answers that were accepted.

use std::collections::BTreeMap;

use longhaul_core::walk;
use longhaul_core::workflow::{StepKind, Workflow};
use longhaul_events::{NodeId, ReportKind, Seq, SessionEvent, SessionId};
use serde::Serialize;
use serde_json::Value;

use super::Reader;
use super::story::Left;
use crate::error::Error;

/// One artifact, with where it came from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Artifact {
    /// `<session>.<node>.<index>`, the index counted from one over all answers that the node got.
    pub id: String,
    pub session: String,
    pub step: String,
    /// What it says of itself, else the contract that its step asks for.
    pub kind: Option<String>,
    /// Of one that was written beside the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As compact JSON.
    pub bytes: u64,
    pub at: String,
    /// The session was taken back to a point before it.
    pub left_behind: bool,
    pub value: Value,
}

impl Reader {
    /// What was handed in: in one session, or in all, newest session last.
    pub fn artifacts(&self, session: Option<SessionId>) -> Result<Vec<Artifact>, Error> {
        if let Some(id) = session {
            return self.artifacts_of(id);
        }
        let mut rows = self.sessions()?;
        rows.retain(|row| row.damage.is_none());
        rows.sort_by_key(|row| (row.updated_at, row.id));
        let mut all = Vec::new();
        for row in rows {
            all.extend(self.artifacts_of(row.id)?);
        }
        Ok(all)
    }

    /// One artifact by its id, whose session may be shortened.
    pub fn artifact(&self, text: &str) -> Result<Artifact, Error> {
        let unknown = || Error::NoSuchArtifact(text.chars().take(120).collect());
        let (node, index) = text.rsplit_once('.').ok_or_else(unknown)?;
        let (row, node) = self.find_node(node)?.ok_or_else(unknown)?;
        let id = artifact_id(row.id, node, index);
        self.artifacts_of(row.id)?.into_iter().find(|artifact| artifact.id == id).ok_or_else(unknown)
    }

    fn artifacts_of(&self, id: SessionId) -> Result<Vec<Artifact>, Error> {
        let mut steps: BTreeMap<NodeId, String> = BTreeMap::new();
        let mut found: Vec<(Seq, Vec<Artifact>)> = Vec::new();
        let mut numbering = Numbering::new(id);
        let mut left = Left::default();
        let mut workflow: Option<Workflow> = None;
        self.each_event(id, |told| {
            left.see(&told);
            match told.event {
                SessionEvent::WorkflowPinned { workflow: ref pinned, .. } => {
                    workflow = serde_json::from_value(self.value(pinned)?).ok();
                }
                SessionEvent::StepHandedOut { node, step, .. } => {
                    steps.insert(node, step.0);
                }
                SessionEvent::StepFinished { node, ref payload, .. } => {
                    let payload = self.value(payload)?;
                    let values = payload["artifacts"].as_array().cloned().unwrap_or_default();
                    let step = steps.get(&node).cloned().unwrap_or_default();
                    let origin = Origin { session: id, step: &step, at: &told.at };
                    let mut artifacts = artifacts_in(&origin, numbering.name(node, values));
                    let asked = workflow.as_ref().and_then(|workflow| asked(workflow, &step));
                    artifacts.iter_mut().for_each(|one| one.kind = one.kind.take().or_else(|| asked.clone()));
                    found.push((told.seq, artifacts));
                }
                SessionEvent::Reported { node: Some(node), kind: ReportKind::Artifact, ref report } => {
                    let step = steps.get(&node).cloned().unwrap_or_default();
                    let origin = Origin { session: id, step: &step, at: &told.at };
                    let named = numbering.name(node, vec![self.value(report)?]);
                    found.push((told.seq, written(&origin, named)));
                }
                SessionEvent::Opened { .. }
                | SessionEvent::DriverTaken { .. }
                | SessionEvent::DriverRenewed { .. }
                | SessionEvent::DriverExpired { .. }
                | SessionEvent::DriverReleased { .. }
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
                | SessionEvent::GateAnswered { .. }
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
            Ok(())
        })?;
        Ok(found.into_iter().flat_map(|(seq, artifacts)| marked(&left, seq, artifacts)).collect())
    }
}

/// With whether they still lead to where the session stands.
fn marked(left: &Left, seq: Seq, artifacts: Vec<Artifact>) -> impl Iterator<Item = Artifact> + use<> {
    let is_left = left.holds(seq);
    artifacts.into_iter().map(move |artifact| Artifact { left_behind: is_left, ..artifact })
}

/// The contract of a step that asks for one thing only; where there are more, an artifact has to say which it is.
fn asked(workflow: &Workflow, step: &str) -> Option<String> {
    let asked = walk::step_or_follow_up(workflow, step)?;
    let StepKind::Prompt(prompt) = &asked.kind else { return None };
    match (&prompt.outputs[..], &prompt.assessments[..]) {
        ([output], []) => Some(output.contract.clone()),
        _ => None,
    }
}

/// The name of an artifact, wherever it is named.
fn artifact_id(session: SessionId, node: NodeId, index: impl std::fmt::Display) -> String {
    format!("{session}.{node}.{index}")
}

/// Gives artifacts their ids. A node that is answered again, after a fork, counts on, so that an id that was
/// told once means the same for ever.
#[derive(Debug)]
pub(super) struct Numbering {
    session: SessionId,
    given: BTreeMap<NodeId, usize>,
}

impl Numbering {
    pub(super) const fn new(session: SessionId) -> Self {
        Self { session, given: BTreeMap::new() }
    }

    /// The values of an answer, in the order in which answers came, each with its id.
    pub(super) fn name(&mut self, node: NodeId, values: Vec<Value>) -> Vec<(String, Value)> {
        let given = self.given.entry(node).or_default();
        let first = *given + 1;
        *given += values.len();
        (first..).zip(values).map(|(index, value)| (artifact_id(self.session, node, index), value)).collect()
    }
}

/// What was written beside an answer: a name, and a value that is the artifact.
fn written(origin: &Origin<'_>, reports: Vec<(String, Value)>) -> Vec<Artifact> {
    let artifact = |(id, mut report): (String, Value)| {
        let name = report["name"].as_str().map(str::to_owned);
        let artifacts = artifacts_in(origin, vec![(id, report["value"].take())]);
        artifacts.into_iter().map(move |artifact| Artifact { name: name.clone(), ..artifact })
    };
    reports.into_iter().flat_map(artifact).collect()
}

/// The answer that artifacts came with.
struct Origin<'a> {
    session: SessionId,
    step: &'a str,
    at: &'a str,
}

fn artifacts_in(origin: &Origin<'_>, values: Vec<(String, Value)>) -> Vec<Artifact> {
    let artifact = |(id, value): (String, Value)| Artifact {
        id,
        session: origin.session.to_string(),
        step: origin.step.to_owned(),
        kind: value["kind"].as_str().map(str::to_owned),
        name: None,
        bytes: value.to_string().len() as u64,
        at: origin.at.to_owned(),
        left_behind: false,
        value,
    };
    values.into_iter().map(artifact).collect()
}
