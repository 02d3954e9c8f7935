//! What is on record of agents that we drive ourselves.

use std::collections::BTreeMap;

use longhaul_core::cassette::Asked;
use longhaul_core::conversation::Conversation;
use longhaul_core::session::{Actor, Command};
use longhaul_events::{
    AgentAct, Content, Epoch, NodeId, Nonce, Reason, Seq, SessionEvent, SessionId, StepId,
};
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

    /// Puts on record what a person says to the agent. What was parked goes on with it.
    pub(crate) fn steer(&self, id: SessionId, words: &str, by: &str) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let nonce = Nonce::from_bytes(self.entropy.bytes());
            let words = Content::Inline(Value::String(words.to_owned()));
            let command = Command::Steer { words, by: by.to_owned(), nonce };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
    }

    /// What others said to the agent at a node since `ear` last listened.
    pub(crate) fn listen(&self, id: SessionId, ear: &mut Ear) -> Result<Vec<Content>, Error> {
        let mut heard = Vec::new();
        let node = ear.node;
        self.each_decision(id, ear.after, |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Agent { node: Some(at), act: AgentAct::Steered { words, .. } } = event
                    && at == node
                {
                    heard.push(words);
                }
            }
            ear.after = decision.last_seq();
            Ok(None::<()>)
        })?;
        Ok(heard)
    }

    /// Puts an answer on record. What was said while it was made it does not know of, so that is told again right behind
    /// it: whoever folds the acts would take it for heard otherwise. Says whether there was any.
    pub(crate) fn act_and_listen(
        &self,
        id: SessionId,
        epoch: Epoch,
        answer: &AgentAct,
        ear: &mut Ear,
    ) -> Result<Heard, Error> {
        let AgentAct::Answered { turn, .. } = answer else {
            return self.act(id, epoch, std::slice::from_ref(answer)).map(|()| Heard::Nothing);
        };
        let (after, heard) = self.decide(id, &Contents::default(), |session| {
            let mut now = *ear;
            let said = self.listen(id, &mut now)?;
            let mut acts = vec![answer.clone()];
            for words in &said {
                let words = in_words(&*self.shared_value(words)?);
                acts.push(AgentAct::Nudged { turn: turn + 1, words });
            }
            let heard = if said.is_empty() { Heard::Nothing } else { Heard::Something };
            Ok(Decided::Events(session.decide(Command::Act { epoch, acts })?, (now, heard)))
        })?;
        *ear = after;
        Ok(heard)
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
        let mut turns = Turns { workflow, visits: BTreeMap::new(), steps: BTreeMap::new() };
        let mut talks: BTreeMap<NodeId, Conversation> = BTreeMap::new();
        self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                match event {
                    SessionEvent::StepHandedOut { node, step, .. } => turns.hand_out(node, step),
                    SessionEvent::Agent { node: Some(node), act } => {
                        let talk = talks.entry(node).or_default();
                        if matches!(act, AgentAct::Answered { .. } | AgentAct::Failed { .. })
                            && let Some(asked) = turns.asked(node)
                        {
                            look(&asked, talk);
                        }
                        talk.apply(&act);
                    }
                    _ => {}
                }
            }
            Ok(None::<()>)
        })?;
        Ok(turns)
    }
}

/// How far somebody listened to what is said to the agent at a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ear {
    pub(crate) node: NodeId,
    pub(crate) after: Seq,
}

/// Whether somebody spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Something,
}

/// What a content says, as text.
pub(crate) fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Which steps were handed out, and how often.
#[derive(Debug)]
pub(crate) struct Turns {
    workflow: String,
    visits: BTreeMap<StepId, u32>,
    steps: BTreeMap<NodeId, (StepId, u32)>,
}

impl Turns {
    fn hand_out(&mut self, node: NodeId, step: StepId) {
        let visits = self.visits.entry(step.clone()).or_default();
        *visits += 1;
        self.steps.insert(node, (step, *visits));
    }

    /// Where a session stands that asks at this node.
    pub(crate) fn asked(&self, node: NodeId) -> Option<Asked> {
        let (step, visit) = self.steps.get(&node)?;
        Some(Asked { workflow: self.workflow.clone(), step: step.0.clone(), visit: *visit })
    }
}
