//! A session that is played in memory, by whatever the fuzzer answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_core::session::{
    Actor, Arrival, Command, FinishStep, GateAnswer, OpenSession, PinWorkflow, RefuseAttempt, Session,
};
use longhaul_core::walk::start::initial_vars;
use longhaul_core::walk::view::{HandedOut, Shown, view};
use longhaul_core::walk::{self, Coordinator, Given, Standing, Walk, follow_up};
use longhaul_core::workflow::answer::{self, Answer, Requires, requirements};
use longhaul_core::workflow::{Step, Workflow};
use longhaul_events::{
    Channel, CloseOutcome, Content, Digest, Driver, GateKind, Nonce, Place, Reason, SessionEvent, SessionId,
    SessionKey, Timestamp, Verdict,
};
use serde_json::{Map, Value, json};

pub(crate) const SESSION: SessionId = SessionId::from_bytes([1; 8]);
const ACTOR: Actor = Actor { epoch: None, now: Timestamp(0) };

pub(crate) struct Play {
    pub(crate) workflow: Workflow,
    pub(crate) session: Session,
    pub(crate) events: Vec<SessionEvent>,
    nonces: u64,
}

/// Who has to do something.
pub(crate) enum Due {
    Answer,
    Work,
    Gate,
    /// It is closed, or parked for a person.
    Nothing,
}

impl Play {
    /// Nothing if the workflow does not start with these vars.
    pub(crate) fn start(workflow: Workflow, vars: &Map<String, Value>) -> Option<Self> {
        let vars = initial_vars(&workflow, "the goal", vars).ok()?;
        let contents =
            vars.iter().map(|(name, value)| (name.clone(), Content::Inline(value.clone()))).collect();
        let vars = vars.into_iter().map(|(name, value)| (name, Arc::new(value))).collect();
        let (place, coordinator, items) = (Place::default(), Coordinator::Parent, Vec::new());
        let standing = Standing { session: SESSION, workflow: &workflow, coordinator, place, vars, items };
        let given = Given { nonce: Nonce::from_bytes([0; 5]), now: Timestamp(0) };
        let onward = Walk::new(standing, given).begin().ok()?;
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
        let session = Session::fold(SESSION, &events).expect("it begins with an opening");
        Some(Self { workflow, session, events, nonces: 0 })
    }

    pub(crate) fn due(&self) -> Due {
        let session = &self.session;
        match (session.tip().is_some(), session.working().is_some(), session.gate().is_some()) {
            _ if session.closed.is_some() => Due::Nothing,
            (true, _, _) => Due::Answer,
            (_, true, _) => Due::Work,
            (_, _, true) => Due::Gate,
            (false, false, false) => Due::Nothing,
        }
    }

    /// What the step that is out wants.
    pub(crate) fn wanted(&self) -> Option<Requires> {
        let tip = self.session.tip()?;
        let step = walk::step_or_follow_up(&self.workflow, &tip.step.0)?;
        Some(requirements(&self.workflow, &step))
    }

    /// Answers the step that is out. What cannot be read as an answer reaches no session: an empty one takes its place.
    pub(crate) fn answer(&mut self, payload: &Value) -> Result<(), Vec<Reason>> {
        let tip = self.session.tip().expect("a step is out").clone();
        let given = self.given();
        let step =
            walk::step_or_follow_up(&self.workflow, &tip.step.0).expect("what is out is in the workflow");
        let attempts = step.attempts;
        let answer = read(payload);
        let way = self.judge(&step, &answer, given);
        let (node, nonce, payload_hash) = (tip.node, tip.nonce, Digest::ZERO);
        let payload = Content::Inline(answer.to_payload());
        match way {
            Ok(onward) => {
                let answer = Content::Inline(Value::Null);
                let finish =
                    FinishStep { node, nonce, payload, payload_hash, answer, onward, restored: None };
                self.decide(Command::Finish { actor: ACTOR, finish });
                Ok(())
            }
            Err(reasons) => {
                let (told, retry) = (reasons.clone(), given.nonce);
                let restored = None;
                let refuse = RefuseAttempt {
                    node,
                    nonce,
                    payload,
                    payload_hash,
                    reasons: told,
                    retry,
                    attempts,
                    restored,
                };
                self.decide(Command::Refuse { actor: ACTOR, refuse });
                Err(reasons)
            }
        }
    }

    fn judge(&self, step: &Step, answer: &Answer, given: Given) -> walk::Way {
        let standing = self.standing();
        let accepted = answer::check(&self.workflow, step, &walk::scope(&standing), answer)?;
        let tip = self.session.tip().expect("a step is out");
        Walk::new(standing, given).after_step(&tip.step, accepted)
    }

    /// What the runner hands in is within the limits of an answer; anything else here counts as unknown.
    pub(crate) fn work(&mut self, result: &Value) {
        let unknown = json!({ "outcome": "unknown" });
        let fits = Answer::from_payload(&json!({ "vars": { "result": result } })).is_ok();
        let result = if fits { result } else { &unknown };
        let work = self.session.working().expect("work is due").clone();
        let driver = Driver { host: "here".to_owned(), process: 1, started: None };
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

    pub(crate) fn approve(&mut self) {
        self.gate(Verdict::Approved);
    }

    pub(crate) fn gate(&mut self, verdict: Verdict) {
        let open = self.session.gate().expect("a gate is open").clone();
        let given = self.given();
        let walk = Walk::new(self.standing(), given);
        let onward = match (verdict, open.kind) {
            (Verdict::Approved, kind) => walk.after_gate(&open.step, kind),
            (Verdict::Rejected, GateKind::Confirmation) => {
                // Going back over what the step had set is the shell's, which reads it from the log.
                let undo = SessionEvent::VarsChanged { set: BTreeMap::new(), unset: Vec::new() };
                walk.again(&open.step, "no", undo)
            }
            (Verdict::Rejected, GateKind::Gate) => {
                Ok(Arrival::Close(CloseOutcome::Failed { reason: "rejected".to_owned() }).into())
            }
        };
        let onward = onward.unwrap_or_else(|reasons| {
            Arrival::Park { step: open.step.clone(), reasons, place: self.session.place.clone() }.into()
        });
        let words = Content::Inline(json!("because"));
        let by = "ada".to_owned();
        let answer = GateAnswer { gate: open.gate, verdict, by, channel: Channel::Forge, words, onward };
        self.decide(Command::AnswerGate { actor: ACTOR, answer });
    }

    /// Opens a follow-up phase; the session is completed.
    pub(crate) fn carry_on(&mut self, text: &str) {
        let nonce = self.given().nonce;
        let step = follow_up::ask(&self.standing(), self.session.phase + 1, text, nonce);
        self.decide(Command::Continue { actor: ACTOR, text: Content::Inline(json!(text)), step });
    }

    fn given(&mut self) -> Given {
        self.nonces += 1;
        let bytes = self.nonces.to_be_bytes();
        Given { nonce: Nonce::from_bytes(std::array::from_fn(|place| bytes[place + 3])), now: Timestamp(0) }
    }

    fn standing(&self) -> Standing<'_> {
        let value = |content: &Content| match content {
            Content::Inline(value) => Arc::new(value.clone()),
            Content::Blob(_) => panic!("nothing is laid aside here"),
        };
        let (session, place) = (&self.session, self.session.place.clone());
        let items = place.frames.iter().map(|frame| frame.items.as_ref().map(value)).collect();
        let vars = session.vars.iter().map(|(name, content)| (name.clone(), value(content))).collect();
        let coordinator = Coordinator::Parent;
        Standing { session: SESSION, workflow: &self.workflow, coordinator, place, vars, items }
    }

    fn decide(&mut self, command: Command) {
        let events = self.session.decide(command).expect("what the session waits for is not refused");
        for event in &events {
            self.session.apply(event);
            self.show(event);
        }
        self.events.extend(events);
    }

    /// Makes of a step that was handed out what its agent would see.
    fn show(&self, event: &SessionEvent) {
        let SessionEvent::StepHandedOut { step, prompt: Content::Inline(prompt), .. } = event else { return };
        let Some(tip) = self.session.tip() else { return };
        let (place, prompt) = (self.session.place.clone(), prompt.clone());
        let handed_out = HandedOut { node: tip.node, nonce: tip.nonce, step: step.clone(), place, prompt };
        let seen = view(&self.workflow, &self.session, Shown::Step(handed_out), Vec::new());
        assert!(seen.prompt.is_some() && seen.continue_token.is_some(), "an agent can go on: {seen:?}");
    }
}

fn read(payload: &Value) -> Answer {
    match Answer::from_payload(payload) {
        Ok(answer) => {
            let again = Answer::from_payload(&answer.to_payload());
            assert_eq!(again.as_ref(), Ok(&answer), "an answer has one form");
            answer
        }
        Err(reasons) => {
            assert!(!reasons.is_empty(), "a refusal says why");
            Answer::default()
        }
    }
}
