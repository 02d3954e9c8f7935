//! What is on record of agents that we drive ourselves.

use std::collections::BTreeMap;

use longhaul_core::cassette::Asked;
use longhaul_core::conversation::Conversation;
use longhaul_core::session::{Actor, Command};
use longhaul_events::{AgentAct, Content, Epoch, NodeId, Reason, Seq, SessionEvent, SessionId, StepId};
use serde_json::Value;

use super::Commands;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

impl Commands {
    /// Has an agent of ours do the steps from here on.
    pub(crate) fn assign(&self, id: SessionId, agent: &str, settings: &Value) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let actor = Actor { epoch: None, now: self.clock.now() };
            let settings = Content::Inline(settings.clone());
            let command = Command::Assign { actor, agent: agent.to_owned(), settings };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
    }

    /// Puts on record what happened between a session and its agent.
    pub(crate) fn act(&self, id: SessionId, epoch: Epoch, acts: &[AgentAct]) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            Ok(Decided::Events(session.decide(Command::Act { epoch, acts: acts.to_vec() })?, ()))
        })
    }

    /// Gives the step up, for a person to look at.
    pub(crate) fn park_step(&self, id: SessionId, epoch: Epoch, reasons: &[Reason]) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            Ok(Decided::Events(session.decide(Command::Park { epoch, reasons: reasons.to_vec() })?, ()))
        })
    }

    /// What happened at a node so far.
    pub(crate) fn acts_at(&self, id: SessionId, node: NodeId) -> Result<Vec<AgentAct>, Error> {
        let mut acts = Vec::new();
        let before = Seq(node.0.0.saturating_sub(1));
        self.each_decision(id, before, |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Agent { node: Some(at), act } = event
                    && at == node
                {
                    acts.push(act);
                }
            }
            Ok(None::<()>)
        })?;
        Ok(acts)
    }

    /// Who drives the session, as it was last assigned.
    pub(crate) fn assigned(&self, id: SessionId) -> Result<Option<AgentAct>, Error> {
        let mut found = None;
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Agent { act: act @ AgentAct::Assigned { .. }, .. } = event {
                    found = Some(act);
                }
            }
            Ok(None::<()>)
        })?;
        Ok(found)
    }

    /// Goes through all turns that were asked, in order, with where the session stood and what the agent knew.
    pub(crate) fn each_turn(
        &self,
        id: SessionId,
        mut look: impl FnMut(&Asked, &Conversation),
    ) -> Result<Turns, Error> {
        let session = self.load_session(id)?;
        let workflow = session.workflow.as_ref().map(|pinned| pinned.id.clone()).unwrap_or_default();
        let mut turns = Turns::of(workflow);
        let mut talks: BTreeMap<NodeId, Conversation> = BTreeMap::new();
        self.each_event_after(id, &mut turns, |turns, event| {
            if let SessionEvent::Agent { node: Some(node), act } = event {
                let talk = talks.entry(node).or_default();
                if matches!(act, AgentAct::Answered { .. } | AgentAct::Failed { .. })
                    && let Some(asked) = turns.asked(node)
                {
                    look(&asked, talk);
                }
                talk.apply(&act);
            }
        })?;
        Ok(turns)
    }

    /// Takes in what happened since `turns` was last brought up to date, so that a long session is read once.
    pub(crate) fn catch_up(&self, id: SessionId, turns: &mut Turns) -> Result<(), Error> {
        self.each_event_after(id, turns, |_, _| {})
    }

    fn each_event_after(
        &self,
        id: SessionId,
        turns: &mut Turns,
        mut look: impl FnMut(&Turns, SessionEvent),
    ) -> Result<(), Error> {
        self.each_decision(id, turns.read, |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                turns.read = turns.read.plus(1);
                match event {
                    SessionEvent::StepHandedOut { node, step, .. } => turns.hand_out(node, step),
                    SessionEvent::DriverExpired { epoch, .. } => turns.death = Some(epoch),
                    event => look(turns, event),
                }
            }
            Ok(None::<()>)
        })
        .map(|_| ())
    }
}

/// Which steps were handed out, and how often.
#[derive(Debug)]
pub(crate) struct Turns {
    /// How far the session was read.
    read: Seq,
    /// The last driver whose lease nobody gave back.
    death: Option<Epoch>,
    workflow: String,
    visits: BTreeMap<StepId, u32>,
    steps: BTreeMap<NodeId, (StepId, u32)>,
}

impl Turns {
    const fn of(workflow: String) -> Self {
        Self { read: Seq(0), death: None, workflow, visits: BTreeMap::new(), steps: BTreeMap::new() }
    }

    fn hand_out(&mut self, node: NodeId, step: StepId) {
        let visits = self.visits.entry(step.clone()).or_default();
        *visits += 1;
        self.steps.insert(node, (step, *visits));
    }

    /// Whether the driver before this one died.
    pub(crate) fn follows_death(&self, epoch: Epoch) -> bool {
        self.death.is_some_and(|dead| dead.plus(1) == epoch)
    }

    /// Where a session stands that asks at this node.
    pub(crate) fn asked(&self, node: NodeId) -> Option<Asked> {
        let (step, visit) = self.steps.get(&node)?;
        Some(Asked { workflow: self.workflow.clone(), step: step.0.clone(), visit: *visit })
    }
}
