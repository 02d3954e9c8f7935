//! Commands about sessions, and answers that stay the same for ever.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longhaul_core::canonical;
use longhaul_core::handle::Handle;
use longhaul_core::session::{
    self, Actor, Arrival, Command, FinishStep, NewStep, Onward, OpenSession, Session,
};
use longhaul_events::{
    CloseOutcome, Content, Digest, Driver, Epoch, NodeId, Nonce, Place, Seq, SessionEvent, SessionId,
    SessionKey, StepId, StreamId, WorkspaceId,
};
use longhaul_store::{Decision, State};
use serde_json::Value;

use super::Commands;
use crate::error::Error;
use crate::recorder::{Aggregate, Contents, Decided, Loaded, Stored};

/// How many decisions are read at a time while looking for one.
const BATCH: usize = 64;

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

/// Sessions as this process last stored them.
#[derive(Default)]
pub(super) struct Recent(Mutex<BTreeMap<SessionId, Loaded<Session>>>);

impl Recent {
    const MOST: usize = 256;

    fn take(&self, id: SessionId) -> Option<Loaded<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    fn put(&self, state: Session, epoch: u64) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() >= Self::MOST {
            recent.pop_first();
        }
        recent.insert(state.id, Loaded { state, epoch });
    }
}

impl Aggregate for Session {
    type Event = SessionEvent;

    fn seq(&self) -> Seq {
        self.seq
    }

    fn apply(&mut self, event: &SessionEvent) {
        Self::apply(self, event);
    }

    fn state(&self) -> State {
        let bytes = serde_json::to_vec(self).expect("a session has string keys only");
        State { fold_version: session::FOLD_VERSION, bytes }
    }
}

/// A session that is about to be opened: it has no events yet.
pub(super) struct Unopened {
    pub(super) id: SessionId,
    pub(super) opened: Option<Session>,
}

impl Aggregate for Unopened {
    type Event = SessionEvent;

    fn seq(&self) -> Seq {
        Seq(0)
    }

    fn apply(&mut self, event: &SessionEvent) {
        match &mut self.opened {
            Some(session) => session.apply(event),
            None => self.opened = Session::begin(self.id, event),
        }
    }

    fn state(&self) -> State {
        self.opened.as_ref().expect("the first event of a session opens it").state()
    }
}

impl Commands {
    /// Opens a session and hands out nothing yet.
    pub fn open_session(&self, new: NewSession) -> Result<SessionId, Error> {
        let id = SessionId::from_bytes(self.entropy.bytes());
        let key = SessionKey::from_bytes(self.entropy.bytes());
        let mut contents = Contents::default();
        let goal = self.recorder.content(new.goal, &mut contents);
        let open = OpenSession { key, goal, workspace: new.workspace, parent: new.parent, workflow: None };
        let opened = self.recorder.record(id.into(), self.clock.now(), &contents, || {
            let events = Session::open(open.clone());
            Ok((Unopened { id, opened: None }, Decided::Events(events, id)))
        });
        opened.map(|(id, _)| id)
    }

    /// Makes `driver` the only one who may write, unless somebody else is.
    pub fn take_driver(&self, id: SessionId, driver: &Driver, lease_ms: u64) -> Result<Epoch, Error> {
        self.decide(id, &Contents::default(), |session| {
            let take = Command::TakeDriver { driver: driver.clone(), lease_ms, now: self.clock.now() };
            Ok(Decided::Events(session.decide(take)?, session.epoch.plus(1)))
        })
    }

    pub fn renew_driver(&self, id: SessionId, epoch: Epoch, lease_ms: u64) -> Result<(), Error> {
        self.simply(id, |now| Command::RenewDriver { epoch, lease_ms, now })
    }

    pub fn release_driver(&self, id: SessionId, epoch: Epoch) -> Result<(), Error> {
        self.simply(id, |_| Command::ReleaseDriver { epoch })
    }

    /// Puts on record that a lease ran out.
    pub fn notice_expiry(&self, id: SessionId, epoch: Epoch) -> Result<(), Error> {
        self.simply(id, |now| Command::NoticeExpiry { epoch, now })
    }

    pub fn close_session(
        &self,
        id: SessionId,
        outcome: &CloseOutcome,
        epoch: Option<Epoch>,
    ) -> Result<(), Error> {
        self.simply(id, |now| Command::Close { actor: Actor { epoch, now }, outcome: outcome.clone() })
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

    /// The handle of the step that is out; `None` when the session is closed or waits.
    pub fn current_handle(&self, id: SessionId) -> Result<Option<Handle>, Error> {
        Ok(self.load_session(id)?.handle())
    }

    /// A handle for a node: the same one while it is the newest, a fresh one for an older node. Using the
    /// fresh one forks the session there.
    pub fn ask_again(&self, id: SessionId, node: NodeId, epoch: Option<Epoch>) -> Result<Handle, Error> {
        let nonce = Nonce::from_bytes(self.entropy.bytes());
        self.decide(id, &Contents::default(), |session| {
            match session.handle().filter(|handle| handle.node == node) {
                Some(same) => return Ok(Decided::Nothing(same)),
                None => self.check_node(id, node)?,
            }
            let actor = Actor { epoch, now: self.clock.now() };
            let events = session.decide(Command::Reissue { actor, node, nonce })?;
            Ok(Decided::Events(events, session.sign(node, nonce)))
        })
    }

    fn simply(
        &self,
        id: SessionId,
        command: impl Fn(longhaul_events::Timestamp) -> Command,
    ) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            Ok(Decided::Events(session.decide(command(self.clock.now()))?, ()))
        })
    }

    fn decide<Answer>(
        &self,
        id: SessionId,
        contents: &Contents,
        decide: impl FnMut(&Session) -> Result<Decided<SessionEvent, Answer>, Error>,
    ) -> Result<Answer, Error> {
        self.decide_and_keep(id, contents, decide).map(|(answer, _)| answer)
    }

    /// Decides on what this process last knew, which is nearly always right; the store refuses it if not.
    /// Anything but new facts is decided again on fresh state, because only facts are checked by the store.
    pub(super) fn decide_and_keep<Answer>(
        &self,
        id: SessionId,
        contents: &Contents,
        mut decide: impl FnMut(&Session) -> Result<Decided<SessionEvent, Answer>, Error>,
    ) -> Result<(Answer, Stored<Session>), Error> {
        if let Some(known) = self.recent.take(id)
            && let Ok(Decided::Events(events, answer)) = decide(&known.state)
        {
            let epoch = known.epoch;
            if let Some(after) = self.recorder.store(id.into(), self.clock.now(), contents, known, events)? {
                self.recent.put(after.state.clone(), epoch);
                return Ok((answer, after));
            }
        }
        let epoch = self.recorder.log.state_epoch();
        let (answer, after) = self.recorder.record(id.into(), self.clock.now(), contents, || {
            let session = self.load_session(id)?;
            let decided = decide(&session)?;
            Ok((session, decided))
        })?;
        self.recent.put(after.state.clone(), epoch);
        Ok((answer, after))
    }

    /// The state of a session: from its head, or folded anew when the head has none that this release knows.
    pub(crate) fn load_session(&self, id: SessionId) -> Result<Session, Error> {
        let stream = StreamId::from(id);
        let head = self.recorder.log.head(stream)?.ok_or(Error::UnknownSession(id))?;
        let stored = head.state.filter(|state| state.fold_version == session::FOLD_VERSION);
        if let Some(session) = stored.and_then(|state| serde_json::from_slice::<Session>(&state.bytes).ok())
            && session.seq == head.seq
        {
            return Ok(session);
        }
        let mut events: Vec<SessionEvent> = Vec::new();
        self.each_decision(id, Seq(0), |decision| {
            events.extend(decision.readable_events::<SessionEvent>()?);
            Ok(None::<()>)
        })?;
        Session::fold(id, &events).ok_or(Error::UnknownSession(id))
    }

    /// Reads decisions until `look` has found what it looks for.
    pub(super) fn each_decision<Found>(
        &self,
        id: SessionId,
        after: Seq,
        mut look: impl FnMut(&Decision) -> Result<Option<Found>, Error>,
    ) -> Result<Option<Found>, Error> {
        let mut after = after;
        loop {
            let decisions = self.recorder.log.read(id.into(), after, BATCH)?;
            let Some(last) = decisions.last() else { return Ok(None) };
            after = last.last_seq();
            for decision in &decisions {
                if let Some(found) = look(decision)? {
                    return Ok(Some(found));
                }
            }
        }
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

    pub(super) fn check_node(&self, id: SessionId, node: NodeId) -> Result<(), Error> {
        let before = Seq(node.0.0.saturating_sub(1));
        let decisions = self.recorder.log.read(id.into(), before, 1)?;
        let mut handed_out = false;
        for decision in &decisions {
            let events = decision.readable_events::<SessionEvent>()?;
            handed_out |= events.iter().any(
                |event| matches!(event, SessionEvent::StepHandedOut { node: found, .. } if *found == node),
            );
        }
        if handed_out { Ok(()) } else { Err(session::Rejection::NoSuchNode { node }.into()) }
    }

    pub(super) fn value_of(&self, content: &Content) -> Result<Value, Error> {
        match content {
            Content::Inline(value) => Ok(value.clone()),
            Content::Blob(blob) => Ok(parsed(&self.recorder.log.blob(blob.sha256)?)),
        }
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

/// A redacted blob may no longer be JSON; then its text is the value.
pub(super) fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// The handle of the step that these events hand out.
fn next_handle(session: &Session, events: &[SessionEvent]) -> Option<Handle> {
    events.iter().find_map(|event| {
        let SessionEvent::StepHandedOut { node, nonce, .. } = event else { return None };
        Some(session.sign(*node, *nonce))
    })
}
