//! What the agent of a session did, as a script that does it again.

use std::collections::BTreeSet;

use longhaul_core::cassette::{self, Cassette, Recorded, Recording};
use longhaul_events::{AgentAct, Content, NodeId, SessionEvent, SessionId};
use serde_json::Value;

use super::Reader;
use super::events::Told;
use super::story::Left;
use crate::error::{DrivenError, Error};
use crate::runner::Visits;

/// A cassette, ready to be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedRun {
    pub text: String,
    pub turns: usize,
    /// What a script cannot say.
    pub remarks: Vec<String>,
}

impl Reader {
    /// Writes down what the agent did on the way that led to where the session stands, and after it what was done in the
    /// sessions that it led to and by their workers. What a rewind left behind is left out. Secrets are marks in it, as in all
    /// that is stored.
    pub fn record(&self, id: SessionId) -> Result<RecordedRun, Error> {
        let Recorded { mut cassette, mut remarks } = self.recorded(id)?;
        let mut more = self.below(id)?;
        for session in std::iter::once(id).chain(more.clone()) {
            more.extend(self.workers_below(session)?);
        }
        for session in more {
            let recorded = self.recorded(session)?;
            cassette.turns.extend(recorded.cassette.turns);
            remarks.extend(recorded.remarks);
        }
        Ok(RecordedRun { text: cassette::write(&cassette), turns: cassette.turns.len(), remarks })
    }

    fn recorded(&self, id: SessionId) -> Result<Recorded, Error> {
        let (mut all, mut left) = (Vec::new(), Left::default());
        self.each_event(id, |told| {
            left.see(&told);
            all.push(told);
            Ok(())
        })?;
        let again = handed_out_again(&all);
        let (mut recording, mut played) = (Recording::of(""), None);
        let mut is_driven = false;
        let before = self.visits_before(&all)?;
        for Told { event, .. } in all.into_iter().filter(|told| !left.holds(told.seq)) {
            match event {
                SessionEvent::WorkflowPinned { id, .. } => {
                    recording = Recording::of(&id).after(before.steps.clone(), before.ahead);
                }
                SessionEvent::StepHandedOut { node, step, .. } if !again.contains(&node) => {
                    recording.hand_out(node, &step);
                }
                SessionEvent::Agent { act: AgentAct::Assigned { settings, .. }, .. } => {
                    is_driven = true;
                    played = self.played(&settings)?;
                }
                SessionEvent::Agent { node: Some(node), act } => {
                    recording.take(node, &self.with_contents(act)?);
                }
                _ => {}
            }
        }
        if !is_driven {
            return Err(Error::Driven(DrivenError::NotDriven { id, lacks: "script" }));
        }
        Ok(recording.finish(played))
    }

    /// How often others of the same task had been at its steps when it was opened.
    fn visits_before(&self, all: &[Told]) -> Result<Visits, Error> {
        let assigned = all.iter().find_map(|told| match &told.event {
            SessionEvent::Agent { act: AgentAct::Assigned { settings, .. }, .. } => Some(settings),
            _ => None,
        });
        let Some(settings) = assigned else { return Ok(Visits::default()) };
        Ok(serde_json::from_value(self.value(settings)?["visits"].take()).unwrap_or_default())
    }

    /// The script that was played, if the agent had one.
    fn played(&self, settings: &Content) -> Result<Option<Cassette>, Error> {
        let settings = self.value(settings)?;
        let script = settings["cassette"].as_str();
        Ok(script.and_then(|text| cassette::parse("", text).ok()))
    }

    fn with_contents(&self, act: AgentAct) -> Result<AgentAct, Error> {
        let mut act = act;
        if let AgentAct::Answered { said, calls, .. } = &mut act {
            *said = Content::Inline(Value::String(self.words(said)?));
            for call in calls {
                call.arguments = Content::Inline(self.value(&call.arguments)?);
            }
        }
        Ok(act)
    }
}

/// Steps that a rewind handed out once more: what happened there first is left behind.
fn handed_out_again(all: &[Told]) -> BTreeSet<NodeId> {
    let again = all.iter().filter_map(|told| match &told.event {
        SessionEvent::Rewound { to, .. } => Some(*to),
        _ => None,
    });
    again.collect()
}
