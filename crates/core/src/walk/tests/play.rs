//! A session that is played in memory: no log, no clock, every answer at hand.

use std::sync::Arc;

use longhaul_events::{
    Channel, CloseOutcome, Content, Digest, GateKind, Nonce, Reason, SessionEvent, SessionId, SessionKey,
    StepId, Timestamp, Verdict,
};
use serde_json::{Map, Value, json};

use crate::session::{
    Actor, Arrival, At, Command, FinishStep, GateAnswer, OpenSession, PinWorkflow, RefuseAttempt, Session,
};
use crate::walk::start::initial_vars;
use crate::walk::{self, Coordinator, Given, Standing, Walk};
use crate::workflow::Workflow;
use crate::workflow::answer::{self, Answer};
use crate::workflow::compile::{Source, Sources, Syntax, compile};

pub(super) struct Play {
    pub(super) workflow: Workflow,
    pub(super) session: Session,
    pub(super) events: Vec<SessionEvent>,
    pub(super) coordinator: Coordinator,
    nonces: u64,
}

pub(crate) fn compiled(text: &str) -> Workflow {
    let source = Source { name: "test.yml".into(), text: text.to_owned(), syntax: Syntax::Yaml };
    let outcome = compile(&source, &Sources::default());
    outcome.value.unwrap_or_else(|| panic!("{:#?}", outcome.diagnostics))
}

impl Play {
    pub(super) fn of(text: &str, vars: &Value) -> Self {
        Self::start(compiled(text), vars)
    }

    pub(super) fn start(workflow: Workflow, vars: &Value) -> Self {
        let given = vars.as_object().cloned().unwrap_or_default();
        Self::try_start(workflow, &given).unwrap_or_else(|reasons| panic!("{reasons:#?}"))
    }

    pub(super) fn try_start(workflow: Workflow, vars: &Map<String, Value>) -> Result<Self, Vec<Reason>> {
        let goal = vars.get("goal").and_then(Value::as_str).unwrap_or("the goal");
        let vars = initial_vars(&workflow, goal, vars)?;
        let contents = vars.iter().map(|(k, v)| (k.clone(), Content::Inline(v.clone()))).collect();
        let vars = vars.into_iter().map(|(k, v)| (k, Arc::new(v))).collect();
        let standing = Standing {
            session: SessionId::from_bytes([1; 8]),
            workflow: &workflow,
            coordinator: Coordinator::Nobody,
            place: longhaul_events::Place::default(),
            vars,
            items: Vec::new(),
        };
        let given = Given { nonce: Nonce::from_bytes([0; 5]), now: Timestamp(0) };
        let onward = Walk::new(standing, given).begin()?;
        let pin = PinWorkflow {
            id: workflow.id.clone(),
            version: workflow.version.clone(),
            hash: Digest::ZERO,
            workflow: Content::Inline(Value::Null),
            checkout: None,
            vars: contents,
            onward,
        };
        let events = Session::open(OpenSession {
            key: SessionKey::from_bytes([1; 16]),
            goal: Content::Inline(json!("the goal")),
            workspace: None,
            parent: None,
            task: None,
            workflow: Some(pin),
        });
        let session = Session::fold(SessionId::from_bytes([1; 8]), &events).unwrap();
        Ok(Self { workflow, session, events, coordinator: Coordinator::Nobody, nonces: 0 })
    }

    fn given(&mut self) -> Given {
        self.nonces += 1;
        let bytes = self.nonces.to_be_bytes();
        Given { nonce: Nonce::from_bytes(std::array::from_fn(|n| bytes[n + 3])), now: Timestamp(0) }
    }

    fn standing(&self) -> Standing<'_> {
        let value = |content: &Content| match content {
            Content::Inline(value) => Arc::new(value.clone()),
            Content::Blob(_) => panic!("nothing is laid aside here"),
        };
        Standing {
            session: self.session.id,
            workflow: &self.workflow,
            coordinator: self.coordinator,
            place: self.session.place.clone(),
            vars: self.session.vars.iter().map(|(name, content)| (name.clone(), value(content))).collect(),
            items: self.session.place.frames.iter().map(|frame| frame.items.as_ref().map(value)).collect(),
        }
    }

    fn decide(&mut self, command: Command) {
        let events = self.session.decide(command).unwrap();
        events.iter().for_each(|event| self.session.apply(event));
        self.events.extend(events);
    }

    const fn actor() -> Actor {
        Actor { epoch: None, now: Timestamp(0) }
    }

    /// Answers the step that is out. What was wrong with it comes back.
    pub(super) fn answer(&mut self, payload: &Value) -> Result<(), Vec<Reason>> {
        let answer = Answer::from_payload(payload)?;
        let tip = self.session.tip().expect("a step is out").clone();
        let given = self.given();
        let standing = self.standing();
        let step = walk::step_or_follow_up(&self.workflow, &tip.step.0).unwrap();
        let attempts = step.attempts;
        let way = answer::check(&self.workflow, &step, &walk::scope(&standing), &answer)
            .and_then(|accepted| Walk::new(standing, given).after_step(&tip.step, accepted));
        let (node, nonce, payload_hash) = (tip.node, tip.nonce, Digest::ZERO);
        let payload = Content::Inline(payload.clone());
        match way {
            Ok(onward) => {
                let answer = Content::Inline(Value::Null);
                let finish =
                    FinishStep { node, nonce, payload, payload_hash, answer, onward, restored: None };
                self.decide(Command::Finish { actor: Self::actor(), finish });
                Ok(())
            }
            Err(reasons) => {
                let refuse = RefuseAttempt {
                    node,
                    nonce,
                    payload,
                    payload_hash,
                    reasons: reasons.clone(),
                    retry: given.nonce,
                    attempts,
                    restored: None,
                };
                self.decide(Command::Refuse { actor: Self::actor(), refuse });
                Err(reasons)
            }
        }
    }

    /// What would be said against an answer, without giving it.
    pub(super) fn refusal(&self, payload: &Value) -> Option<Vec<Reason>> {
        let answer = Answer::from_payload(payload).unwrap();
        let tip = self.session.tip().expect("a step is out");
        let step = walk::step_or_follow_up(&self.workflow, &tip.step.0).unwrap();
        answer::check(&self.workflow, &step, &walk::scope(&self.standing()), &answer).err()
    }

    /// The workflows of the sessions that the work which is due would start.
    pub(super) fn wanted_children(&self) -> Vec<String> {
        let work = self.session.working().expect("work is due");
        let standing = self.standing();
        let family =
            walk::step(&self.workflow, &work.step.0).unwrap().kind.family().expect("it starts sessions");
        let wanted = walk::children::wanted(&family, &walk::scope(&standing)).unwrap();
        wanted.into_iter().map(|child| child.workflow).collect()
    }

    pub(super) fn work(&mut self, result: &Value) {
        let work = self.session.working().expect("work is due").clone();
        let driver = longhaul_events::Driver { host: "here".into(), process: 1, started: None };
        self.decide(Command::TakeDriver { driver, lease_ms: 10, now: Timestamp(0) });
        let given = self.given();
        let onward =
            Walk::new(self.standing(), given).after_work(&work.step, result).unwrap_or_else(|reasons| {
                let place = self.session.place.clone();
                Arrival::Park { step: work.step.clone(), reasons, place }.into()
            });
        let (epoch, result) = (self.session.epoch, Content::Inline(result.clone()));
        self.decide(Command::FinishWork { epoch, work: work.work, result, onward });
    }

    pub(super) fn gate(&mut self, verdict: Verdict) {
        let open = self.session.gate().expect("a gate is open").clone();
        let given = self.given();
        let walk = Walk::new(self.standing(), given);
        let onward = match (verdict, open.kind) {
            (Verdict::Approved, kind) => walk.after_gate(&open.step, kind),
            (Verdict::Rejected, GateKind::Confirmation) => walk.again(
                &open.step,
                "no",
                SessionEvent::VarsChanged { set: std::collections::BTreeMap::new(), unset: Vec::new() },
            ),
            (Verdict::Rejected, GateKind::Gate) => {
                Ok(Arrival::Close(CloseOutcome::Failed { reason: "rejected".into() }).into())
            }
        };
        let onward = onward.unwrap_or_else(|reasons| {
            Arrival::Park { step: open.step.clone(), reasons, place: self.session.place.clone() }.into()
        });
        let answer = GateAnswer {
            gate: open.gate,
            verdict,
            by: "ada".into(),
            channel: Channel::Forge,
            words: Content::Inline(json!("because")),
            onward,
        };
        self.decide(Command::AnswerGate { actor: Self::actor(), answer });
    }

    /// Where it stands, in a word.
    pub(super) fn at(&self) -> String {
        if let Some(outcome) = &self.session.closed {
            return match outcome {
                CloseOutcome::Completed => "completed".to_owned(),
                CloseOutcome::Cancelled { .. } => "cancelled".to_owned(),
                CloseOutcome::Failed { reason } => format!("failed: {reason}"),
            };
        }
        let id = |StepId(id): &StepId| id.clone();
        match &self.session.at {
            At::Nothing => "nothing".to_owned(),
            At::Step(tip) => id(&tip.step),
            At::Work(work) => format!("work:{}", work.step.0),
            At::Gate(gate) => format!("gate:{}", gate.step.0),
            At::Parked(park) => format!("parked:{}", park.step.0),
        }
    }

    /// Says `notes` to every step until something else is due, and lists the steps.
    pub(super) fn go(&mut self) -> Vec<String> {
        let mut seen = Vec::new();
        while self.session.tip().is_some() {
            seen.push(self.at());
            self.answer(&json!({ "notes": "done" })).unwrap_or_else(|reasons| panic!("{reasons:#?}"));
        }
        seen.push(self.at());
        seen
    }

    /// The prompt of the step that is out.
    pub(super) fn prompt(&self) -> String {
        let last = self.events.iter().rev().find_map(|event| {
            let SessionEvent::StepHandedOut { prompt: Content::Inline(prompt), .. } = event else {
                return None;
            };
            Some(prompt)
        });
        last.map(|prompt| format!("{}\n{}", prompt["title"], prompt["text"].as_str().unwrap())).unwrap()
    }

    /// The choices of the last decision: `step choice: because`.
    pub(super) fn why(&self) -> Vec<String> {
        let last = self.events.iter().rev().find_map(|event| {
            let SessionEvent::WayChosen { considered, .. } = event else { return None };
            Some(considered)
        });
        let line = |one: &longhaul_events::Considered| {
            let choice = serde_json::to_value(one.choice).unwrap();
            format!("{} {}: {}", one.step.0, choice.as_str().unwrap(), one.because)
        };
        last.into_iter().flatten().map(line).collect()
    }
}
