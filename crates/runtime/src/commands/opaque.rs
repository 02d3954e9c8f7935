//! Steps without a workflow: what the store's harnesses drive.
//!
//! The harnesses that kill, break and measure the store need the smallest decision that a session can make:
//! one step finished, the next handed out, under handles and with answers that stay the same for ever. Which
//! step comes next, and what is answered, is the caller's. The product never comes here: its sessions follow
//! workflows, through [`super::walking`].

use longhaul_core::canonical;
use longhaul_core::handle::Handle;
use longhaul_core::session::{Actor, Arrival, Command, FinishStep, NewStep, Onward, OpenSession, Session};
use longhaul_events::{
    CloseOutcome, Content, Digest, Epoch, Nonce, Place, Seq, SessionEvent, SessionId, SessionKey, StepId,
    WorkspaceId,
};
use serde_json::Value;

use super::Commands;
use super::session::Unopened;
use crate::error::Error;
use crate::reading::parsed;
use crate::recorder::{Contents, Decided};

#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    pub goal: Value,
    pub workspace: Option<WorkspaceId>,
    pub parent: Option<SessionId>,
}

/// A step to hand out.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRequest {
    pub step: StepId,
    pub prompt: Value,
}

/// A step that somebody says is finished.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishRequest {
    pub handle: Handle,
    pub payload: Value,
    /// What to answer if this is new; a repeated call gets the answer of the first.
    pub answer: Value,
    pub then: ThenRequest,
    /// Named by the driver that holds the session's lease.
    pub epoch: Option<Epoch>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ThenRequest {
    HandOut(StepRequest),
    Close(CloseOutcome),
}

/// The answer to a finished step.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub answer: Value,
    pub next: Next,
    /// Whether it was recorded earlier and is only said again.
    pub replayed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Step(Handle),
    Closed,
}

impl Commands {
    /// Opens a session and hands out nothing yet.
    pub fn open_session(&self, new: NewSession) -> Result<SessionId, Error> {
        let id = SessionId::from_bytes(self.entropy.bytes());
        let key = SessionKey::from_bytes(self.entropy.bytes());
        let mut contents = Contents::default();
        let goal = self.recorder.content(new.goal, &mut contents);
        let open = OpenSession {
            key,
            goal,
            workspace: new.workspace,
            parent: new.parent,
            task: None,
            workflow: None,
        };
        let opened = self.recorder.record(self.write(id.into(), &contents), || {
            let events = Session::open(open.clone());
            Ok((Unopened { id, opened: None }, Decided::Events(events, id)))
        });
        opened.map(|(id, _)| id)
    }

    /// Hands out the first step of a session.
    pub fn hand_out(&self, id: SessionId, step: StepRequest, epoch: Option<Epoch>) -> Result<Handle, Error> {
        let mut contents = Contents::default();
        let step = self.new_step(step, &mut contents);
        self.decide(id, &contents, |session| {
            let actor = Actor { epoch, now: self.clock.now() };
            let events = session.decide(Command::HandOut { actor, step: step.clone() })?;
            let handle = next_handle(session, &events).expect("handing out hands out");
            Ok(Decided::Events(events, handle))
        })
    }

    /// Finishes a step, or says again what was said when it was finished.
    pub fn finish_step(&self, request: FinishRequest) -> Result<Answered, Error> {
        let FinishRequest { handle, payload, answer, then, epoch } = request;
        let payload_hash = canonical::hash(&payload)?;
        let mut contents = Contents::default();
        let stored = FinishStep {
            node: handle.node,
            nonce: handle.nonce,
            payload: self.recorder.content(payload.clone(), &mut contents),
            payload_hash,
            answer: self.recorder.content(answer, &mut contents),
            onward: self.onward(then, &mut contents),
            restored: None,
        };
        let fresh_answer = self.recorder_value(&stored.answer, &contents)?;
        self.decide(handle.session, &contents, |session| {
            if !session.has_signed(&handle) {
                return Err(Error::ForgedHandle(handle.session));
            }
            if !session.is_live(handle.node, handle.nonce) {
                return Ok(Decided::Nothing(self.say_again(session, &handle, payload_hash, &payload)?));
            }
            let actor = Actor { epoch, now: self.clock.now() };
            let events = session.decide(Command::Finish { actor, finish: stored.clone() })?;
            let next = next_handle(session, &events).map_or(Next::Closed, Next::Step);
            Ok(Decided::Events(events, Answered { answer: fresh_answer.clone(), next, replayed: false }))
        })
    }

    /// The recorded answer of a handle that was used. A node is a place in the log, so the search starts there.
    fn say_again(
        &self,
        session: &Session,
        handle: &Handle,
        sent_hash: Digest,
        sent: &Value,
    ) -> Result<Answered, Error> {
        let before = Seq(handle.node.0.0.saturating_sub(1));
        let found = self.each_decision(session.id, before, |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            let finished = events.iter().find_map(|event| {
                let SessionEvent::StepFinished { node, nonce, payload, payload_hash, answer, .. } = event
                else {
                    return None;
                };
                let same = (*node, *nonce) == (handle.node, handle.nonce);
                same.then(|| (payload.clone(), *payload_hash, answer.clone()))
            });
            Ok(finished.map(|finished| (finished, events.clone())))
        })?;
        let Some(((payload, hash, answer), events)) = found else { return Err(Error::Superseded) };
        if hash != sent_hash {
            let mut sent = sent.clone();
            self.recorder.scrubber().value(&mut sent);
            return Err(Error::DifferentPayload { recorded: self.value_of(&payload)?, sent });
        }
        let next = next_handle(session, &events).map_or(Next::Closed, Next::Step);
        Ok(Answered { answer: self.value_of(&answer)?, next, replayed: true })
    }

    /// What a content that is about to be stored will read back as.
    fn recorder_value(&self, content: &Content, contents: &Contents) -> Result<Value, Error> {
        match content {
            Content::Inline(value) => Ok(value.clone()),
            Content::Blob(blob) => match contents.bytes(blob.sha256) {
                Some(bytes) => Ok(parsed(bytes)),
                None => self.value_of(content),
            },
        }
    }

    fn new_step(&self, step: StepRequest, contents: &mut Contents) -> NewStep {
        let prompt = self.recorder.content(step.prompt, contents);
        let nonce = Nonce::from_bytes(self.entropy.bytes());
        NewStep { step: step.step, prompt, nonce, place: Place::default() }
    }

    fn onward(&self, then: ThenRequest, contents: &mut Contents) -> Onward {
        match then {
            ThenRequest::HandOut(step) => Arrival::Step(self.new_step(step, contents)).into(),
            ThenRequest::Close(outcome) => Arrival::Close(outcome).into(),
        }
    }
}

/// The handle of the step that these events hand out.
fn next_handle(session: &Session, events: &[SessionEvent]) -> Option<Handle> {
    events.iter().find_map(|event| {
        let SessionEvent::StepHandedOut { node, nonce, .. } = event else { return None };
        Some(session.sign(*node, *nonce))
    })
}
