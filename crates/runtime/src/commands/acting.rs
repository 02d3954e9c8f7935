//! What is on record of agents that we drive ourselves.

use std::collections::BTreeMap;

use longhaul_core::budget::{WallClock, day_of};
use longhaul_core::cassette::{self, Asked};
use longhaul_core::conversation::{Conversation, Unheard};
use longhaul_core::session::{Actor, Command, NewBudget, Rejection, StopWish};
use longhaul_core::walk;
use longhaul_core::workflow::ModelTier;
use longhaul_events::{
    AgentAct, Content, Epoch, NodeId, Nonce, Reason, Seq, SessionEvent, SessionId, StepId, Taint, Timestamp,
    Waits,
};
use serde_json::{Value, json};

use super::Commands;
use crate::error::Error;
use crate::recorder::{Contents, Decided};
use crate::runner::{Assignment, Visits};
use crate::stopping::Stop;

impl Commands {
    /// Has an agent of ours do the steps from here on.
    pub(crate) fn assign(
        &self,
        id: SessionId,
        assignment: &Assignment,
        taint: Taint,
        budget: &NewBudget,
    ) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let actor = Actor { epoch: None, now: self.clock.now() };
            let settings = Content::Inline(json!(assignment));
            let (agent, budget) = (assignment.agent(), budget.clone());
            let command = Command::Assign { actor, agent, settings, taint, budget };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
    }

    /// Changes what a session may use. Whoever drives it goes by it from the next turn on; what was parked for want of it
    /// goes on.
    pub(crate) fn set_budget(&self, id: SessionId, budget: &NewBudget) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let nonce = Nonce::from_bytes(self.entropy.bytes());
            let command = Command::SetBudget { budget: budget.clone(), nonce };
            Ok(Decided::Events(session.decide(command)?, ()))
        })
    }

    /// Puts on record that somebody wants the session ended. Who drives it learns of it soon.
    pub(crate) fn request_stop(&self, id: SessionId, stop: &Stop) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let Stop { urgency, by, reason } = stop.clone();
            let events = session.decide(Command::RequestStop { wish: StopWish { by, urgency, reason } })?;
            Ok(if events.is_empty() { Decided::Nothing(()) } else { Decided::Events(events, ()) })
        })
    }

    /// How long a session was driven, as far as it is on record.
    pub(crate) fn wall_clock(&self, id: SessionId) -> Result<WallClock, Error> {
        let mut clock = WallClock::default();
        self.each_decision(id, Seq(0), |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            events.iter().for_each(|event| clock.apply(decision.at, event));
            Ok(None::<()>)
        })?;
        Ok(clock)
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The tier that a step wants to be done by.
    pub(crate) fn tier_at(&self, id: SessionId, step: &StepId) -> Result<Option<ModelTier>, Error> {
        let workflow = self.workflow_of(&self.load_session(id)?)?;
        Ok(walk::step(&workflow, &step.0).and_then(|step| step.model))
    }

    pub(crate) fn today(&self) -> i64 {
        day_of(self.clock.now())
    }

    /// What the step says that was handed out at a node.
    pub(crate) fn prompt_at(&self, id: SessionId, node: NodeId) -> Result<Content, Error> {
        let found = self.each_decision(id, Seq(node.0.0.saturating_sub(1)), |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            Ok(events.into_iter().find_map(|event| {
                let SessionEvent::StepHandedOut { node: at, prompt, .. } = event else { return None };
                (at == node).then_some(prompt)
            }))
        })?;
        found.ok_or_else(|| Rejection::NoSuchNode { node }.into())
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

    /// Puts on record what a person says to whoever works on the task. Heard with the next turn or step; what is parked stays so.
    pub(crate) fn tell_session(&self, id: SessionId, words: &str, by: &str) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let words = Content::Inline(Value::String(words.to_owned()));
            let events = session.decide(Command::Tell { words, by: by.to_owned() })?;
            Ok(Decided::Events(events, ()))
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

    /// Puts acts on record. An answer among them does not know of what was said while it was made, so that is told again
    /// right behind it: whoever folds the acts would take it for heard otherwise. Says whether there was any.
    pub(crate) fn act_and_listen(
        &self,
        id: SessionId,
        epoch: Epoch,
        acts: &[AgentAct],
        ear: &mut Ear,
    ) -> Result<Heard, Error> {
        let answer = acts.iter().enumerate().find_map(|(place, act)| match act {
            AgentAct::Answered { turn, .. } => Some((place, *turn)),
            _ => None,
        });
        let Some((place, turn)) = answer else {
            return self.act(id, epoch, acts).map(|()| Heard::Nothing);
        };
        let (after, heard) = self.decide(id, &Contents::default(), |session| {
            let mut now = *ear;
            let said = self.listen(id, &mut now)?;
            let (answered, after) = acts.split_at(place + 1);
            let mut acts = answered.to_vec();
            for words in &said {
                acts.push(AgentAct::Nudged { turn: turn + 1, words: in_words(&*self.shared_value(words)?) });
            }
            acts.extend_from_slice(after);
            let heard = if said.is_empty() { Heard::Nothing } else { Heard::Something };
            Ok(Decided::Events(session.decide(Command::Act { epoch, acts })?, (now, heard)))
        })?;
        *ear = after;
        Ok(heard)
    }

    /// Gives the step up, for a person to look at.
    pub(crate) fn park_step(&self, id: SessionId, epoch: Epoch, reasons: &[Reason]) -> Result<(), Error> {
        self.park(id, epoch, &Parking { reasons: reasons.to_vec(), waits: None })
    }

    pub(crate) fn park(&self, id: SessionId, epoch: Epoch, parking: &Parking) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            Ok(Decided::Events(session.decide(parking.command(epoch))?, ()))
        })
    }

    /// The same, unless somebody has spoken since `ear` last listened: then the agent hears that first.
    pub(crate) fn park_unless_told(
        &self,
        id: SessionId,
        epoch: Epoch,
        parking: &Parking,
        ear: Ear,
    ) -> Result<Heard, Error> {
        self.decide(id, &Contents::default(), |session| {
            let mut now = ear;
            if !self.listen(id, &mut now)?.is_empty() {
                return Ok(Decided::Nothing(Heard::Something));
            }
            Ok(Decided::Events(session.decide(parking.command(epoch))?, Heard::Nothing))
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
    fn assigned(&self, id: SessionId) -> Result<Option<AgentAct>, Error> {
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

    /// Who was to do the steps, and behind which walls; `None` if nobody of ours was.
    pub(crate) fn assignment(&self, id: SessionId) -> Result<Option<Assignment>, Error> {
        let Some(AgentAct::Assigned { settings, .. }) = self.assigned(id)? else { return Ok(None) };
        let settings = self.shared_value(&settings)?;
        serde_json::from_value(Value::clone(&settings))
            .map(Some)
            .map_err(|error| cassette::Error { path: id.to_string(), problem: error.to_string() }.into())
    }

    /// Goes through all turns that were asked, in order, with where the session stood and what the agent knew.
    pub(crate) fn each_turn(
        &self,
        id: SessionId,
        mut look: impl FnMut(&Asked, &Conversation),
    ) -> Result<Turns, Error> {
        let session = self.load_session(id)?;
        let workflow = session.workflow.as_ref().map(|pinned| pinned.id.clone()).unwrap_or_default();
        let before = self.assignment(id)?.and_then(|assignment| assignment.visits).unwrap_or_default();
        let mut turns = Turns::of(workflow, before);
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

    /// Goes through all that happened after a moment, and says how far that was.
    pub(crate) fn each_event_since(
        &self,
        id: SessionId,
        after: Seq,
        mut look: impl FnMut(&SessionEvent),
    ) -> Result<Seq, Error> {
        let mut read = after;
        self.each_decision(id, after, |decision| {
            decision.readable_events::<SessionEvent>()?.iter().for_each(&mut look);
            read = decision.last_seq();
            Ok(None::<()>)
        })?;
        Ok(read)
    }

    /// Another number means that values may have been taken out of what was read before.
    pub(crate) fn state_epoch(&self) -> u64 {
        self.recorder.log.state_epoch()
    }

    /// A content, wherever it lies. Nothing of it is kept.
    pub(crate) fn content(&self, content: &Content) -> Result<Value, Error> {
        self.value_of(content)
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
                turns.unheard.apply(&event, |words| Ok::<_, Error>(in_words(&*self.shared_value(words)?)))?;
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

/// Why a step is given up, and what of it comes back by itself.
#[derive(Debug, Clone)]
pub(crate) struct Parking {
    pub(crate) reasons: Vec<Reason>,
    pub(crate) waits: Option<Waits>,
}

impl Parking {
    fn command(&self, epoch: Epoch) -> Command {
        let Self { reasons, waits } = self.clone();
        Command::Park { epoch, reasons, waits }
    }
}

impl From<Reason> for Parking {
    fn from(reason: Reason) -> Self {
        Self { reasons: vec![reason], waits: None }
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
    /// How far the session was read.
    read: Seq,
    /// The last driver whose lease nobody gave back.
    death: Option<Epoch>,
    unheard: Unheard,
    workflow: String,
    /// By others of the same task.
    before: Visits,
    visits: BTreeMap<StepId, u32>,
    steps: BTreeMap<NodeId, (StepId, u32)>,
}

impl Turns {
    fn of(workflow: String, before: Visits) -> Self {
        let (visits, steps) = (BTreeMap::new(), BTreeMap::new());
        Self { read: Seq(0), death: None, unheard: Unheard::default(), workflow, before, visits, steps }
    }

    fn hand_out(&mut self, node: NodeId, step: StepId) {
        let before = self.before.before(&step.0);
        let visits = self.visits.entry(step.clone()).or_insert(before);
        *visits += 1;
        self.steps.insert(node, (step, *visits));
    }

    /// Whether the driver before this one died.
    pub(crate) fn follows_death(&self, epoch: Epoch) -> bool {
        self.death.is_some_and(|dead| dead.plus(1) == epoch)
    }

    /// What somebody said to the agent at steps before this one, and it has not heard.
    pub(crate) fn unheard_before(&self, node: NodeId) -> Vec<String> {
        self.unheard.elsewhere(node)
    }

    /// Where a session stands that asks at this node.
    pub(crate) fn asked(&self, node: NodeId) -> Option<Asked> {
        let (step, visit) = self.steps.get(&node)?;
        Some(Asked { workflow: self.workflow.clone(), step: step.0.clone(), visit: *visit })
    }
}
