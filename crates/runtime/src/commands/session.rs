//! Sessions as they are loaded, decided on and stored, and who may write to them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longhaul_core::handle::Handle;
use longhaul_core::session::{self, Actor, Command, Lease, Rejection, Session};
use longhaul_events::{
    CloseOutcome, Content, Driver, Epoch, NodeId, Nonce, Seq, SessionEvent, SessionId, StreamId,
};
use longhaul_store::{Decision, State};
use serde_json::Value;

use super::{Commands, noting};
use crate::error::Error;
use crate::reading::{self, Decisions};
use crate::recorder::{Aggregate, Contents, Decided, Loaded, Stored};
use crate::runner::leftovers;

/// How many decisions are read at a time while looking for one.
const BATCH: usize = 64;

/// Sessions as this process last stored them.
#[derive(Default)]
pub(super) struct Recent(Mutex<BTreeMap<SessionId, Loaded<Session>>>);

impl Recent {
    const MOST: usize = 256;

    fn take(&self, id: SessionId) -> Option<Loaded<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    fn has_agent(&self, id: SessionId) -> Option<bool> {
        self.look(id, |session| session.agent.is_some())
    }

    fn look<T>(&self, id: SessionId, at: impl FnOnce(&Session) -> T) -> Option<T> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.get(&id).map(|known| at(&known.state))
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
    /// Makes `driver` the only one who may write, unless somebody else is.
    pub fn take_driver(&self, id: SessionId, driver: &Driver, lease_ms: u64) -> Result<Epoch, Error> {
        self.notice_death(id)?;
        self.decide(id, &Contents::default(), |session| {
            let take = Command::TakeDriver { driver: driver.clone(), lease_ms, now: self.clock.now() };
            Ok(Decided::Events(session.decide(take)?, session.epoch.plus(1)))
        })
    }

    /// Whether an agent of ours does the steps of a session. One is assigned when a session starts, if ever, so what
    /// this process knows of it is good enough.
    pub(crate) fn has_agent(&self, id: SessionId) -> Result<bool, Error> {
        match self.recent.has_agent(id) {
            Some(known) => Ok(known),
            None => Ok(self.load_session(id)?.agent.is_some()),
        }
    }

    /// Whether a session has a checkout of its own that no agent of ours works in.
    pub(crate) fn has_own_files(&self, id: SessionId) -> Result<bool, Error> {
        let look = |session: &Session| {
            session.agent.is_none() && session.workplace.as_ref().is_some_and(|workplace| !workplace.is_gone)
        };
        match self.recent.look(id, look) {
            Some(known) => Ok(known),
            None => Ok(look(&self.load_session(id)?)),
        }
    }

    /// A driver that is seen dead does not hold a session until its lease runs out.
    fn notice_death(&self, id: SessionId) -> Result<(), Error> {
        self.decide(id, &Contents::default(), |session| {
            let dead = session.lease.as_ref().filter(|lease| leftovers::is_dead(&lease.driver));
            Ok(match dead {
                Some(lease) => {
                    let command = Command::NoticeDeath { epoch: lease.epoch, now: self.clock.now() };
                    Decided::Events(session.decide(command)?, ())
                }
                None => Decided::Nothing(()),
            })
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

    pub(super) fn decide<Answer>(
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
        let mut decide = |session: &Session| {
            let decided = decide(session)?;
            refuse_to_expire_the_living(session, &decided)?;
            Ok::<_, Error>(decided)
        };
        if let Some(known) = self.recent.take(id)
            && let Ok(Decided::Events(events, answer)) = decide(&known.state)
        {
            let epoch = known.epoch;
            if let Some(after) = self.recorder.store(self.write(id.into(), contents), known, events)? {
                self.recent.put(after.state.clone(), epoch);
                noting::note(&after);
                return Ok((answer, after));
            }
        }
        let epoch = self.recorder.log.state_epoch();
        let (answer, after) = self.recorder.record(self.write(id.into(), contents), || {
            let session = self.load_session(id)?;
            let decided = decide(&session)?;
            Ok((session, decided))
        })?;
        self.recent.put(after.state.clone(), epoch);
        noting::note(&after);
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
        look: impl FnMut(&Decision) -> Result<Option<Found>, Error>,
    ) -> Result<Option<Found>, Error> {
        Decisions { log: &*self.recorder.log, stream: id.into(), after, batch: BATCH }.find(look)
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
        if handed_out { Ok(()) } else { Err(Rejection::NoSuchNode { node }.into()) }
    }

    pub(super) fn value_of(&self, content: &Content) -> Result<Value, Error> {
        reading::value_of(&*self.recorder.log, content)
    }
}

/// A process that lives has not let go of its lease, whatever a clock says: its own may have stood still, and ours
/// may be wrong.
fn refuse_to_expire_the_living<Answer>(
    session: &Session,
    decided: &Decided<SessionEvent, Answer>,
) -> Result<(), Rejection> {
    let Decided::Events(events, _) = decided else { return Ok(()) };
    let expires = events.iter().any(|event| matches!(event, SessionEvent::DriverExpired { .. }));
    match &session.lease {
        Some(Lease { driver, epoch, expires_at }) if expires && leftovers::is_alive(driver) => {
            Err(Rejection::Driven { driver: driver.clone(), epoch: *epoch, until: *expires_at })
        }
        Some(_) | None => Ok(()),
    }
}
