//! From a command to the facts that it would add. Reads state, changes nothing.

use longhaul_events::{CloseOutcome, Driver, Epoch, NodeId, Nonce, SessionEvent, Timestamp};

use super::command::{Actor, Command, FinishStep, NewStep, OpenSession, Rejection, Then};
use super::{Lease, Session};

impl Session {
    /// The facts that make a session.
    pub fn open(command: OpenSession) -> Vec<SessionEvent> {
        let OpenSession { key, goal, workspace, parent } = command;
        vec![SessionEvent::Opened { key, goal, workspace, parent }]
    }

    /// Says which facts a command would add. Reads state, changes nothing.
    pub fn decide(&self, command: Command) -> Result<Vec<SessionEvent>, Rejection> {
        if self.closed.is_some() {
            return Err(Rejection::Closed);
        }
        match command {
            Command::TakeDriver { driver, lease_ms, now } => self.take_driver(driver, now, lease_ms),
            Command::RenewDriver { epoch, lease_ms, now } => {
                let lease = self.lease_of(epoch)?;
                let expires_at = now.plus_ms(lease_ms).max(lease.expires_at);
                Ok(vec![SessionEvent::DriverRenewed { epoch, expires_at }])
            }
            Command::ReleaseDriver { epoch } => {
                self.lease_of(epoch)?;
                Ok(vec![SessionEvent::DriverReleased { epoch }])
            }
            Command::NoticeExpiry { epoch, now } => self.notice_expiry(epoch, now),
            Command::HandOut { actor, step } => self.hand_out(actor, step),
            Command::Finish { actor, finish } => self.finish(actor, finish),
            Command::Reissue { actor, node, nonce } => self.reissue(actor, node, nonce),
            Command::Close { actor, outcome } => self.close(actor, outcome),
        }
    }

    fn take_driver(
        &self,
        driver: Driver,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = self.permit(Actor { epoch: None, now })?;
        let epoch = self.epoch.plus(1);
        events.push(SessionEvent::DriverTaken { epoch, driver, expires_at: now.plus_ms(lease_ms) });
        Ok(events)
    }

    fn notice_expiry(&self, epoch: Epoch, now: Timestamp) -> Result<Vec<SessionEvent>, Rejection> {
        let lease = self.lease_of(epoch)?;
        if now < lease.expires_at {
            return Err(Rejection::NotExpired { epoch, until: lease.expires_at });
        }
        Ok(vec![expired(lease)])
    }

    fn hand_out(&self, actor: Actor, step: NewStep) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = self.permit(actor)?;
        if let Some(tip) = &self.tip {
            return Err(Rejection::StepIsOut { step: tip.step.clone() });
        }
        self.push_step(&mut events, None, step);
        Ok(events)
    }

    fn finish(&self, actor: Actor, finish: FinishStep) -> Result<Vec<SessionEvent>, Rejection> {
        let FinishStep { node, nonce, payload, payload_hash, answer, then } = finish;
        if !self.is_live(node, nonce) {
            return Err(Rejection::NotLive { node, nonce });
        }
        let mut events = self.permit(actor)?;
        if !self.is_tip(node, nonce) {
            let left = self.tip.as_ref().map(|tip| tip.node);
            events.push(SessionEvent::Forked { from: node, nonce, left });
        }
        let epoch = actor.epoch;
        events.push(SessionEvent::StepFinished { node, nonce, payload, payload_hash, answer, epoch });
        match then {
            Then::HandOut(step) => self.push_step(&mut events, Some(node), step),
            Then::Close(outcome) => events.push(SessionEvent::Closed { outcome }),
        }
        Ok(events)
    }

    fn reissue(&self, actor: Actor, node: NodeId, nonce: Nonce) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = self.permit(actor)?;
        if node.0 > self.seq {
            return Err(Rejection::NoSuchNode { node });
        }
        events.push(SessionEvent::HandleReissued { node, nonce });
        Ok(events)
    }

    fn close(&self, actor: Actor, outcome: CloseOutcome) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = self.permit(actor)?;
        events.push(SessionEvent::Closed { outcome });
        Ok(events)
    }

    /// Lets the holder of the lease write, and anybody when there is none or it has run out.
    ///
    /// A driver whose lease ran out unnoticed may go on: its epoch is still the newest, and that is what
    /// keeps two drivers apart, not the clock.
    fn permit(&self, actor: Actor) -> Result<Vec<SessionEvent>, Rejection> {
        match (&self.lease, actor.epoch) {
            (Some(lease), Some(epoch)) if epoch == lease.epoch => Ok(Vec::new()),
            (_, Some(epoch)) => Err(Rejection::StaleDriver { epoch, current: self.epoch }),
            (None, None) => Ok(Vec::new()),
            (Some(lease), None) if actor.now >= lease.expires_at => Ok(vec![expired(lease)]),
            (Some(lease), None) => Err(Rejection::Driven {
                driver: lease.driver.clone(),
                epoch: lease.epoch,
                until: lease.expires_at,
            }),
        }
    }

    fn lease_of(&self, epoch: Epoch) -> Result<&Lease, Rejection> {
        let held = self.lease.as_ref().filter(|lease| lease.epoch == epoch);
        held.ok_or(Rejection::StaleDriver { epoch, current: self.epoch })
    }

    /// A node is named after the event that hands it out, so its number is known before it is stored.
    fn push_step(&self, events: &mut Vec<SessionEvent>, after: Option<NodeId>, step: NewStep) {
        let node = NodeId(self.seq.plus(events.len() as u64 + 1));
        let NewStep { step, prompt, nonce } = step;
        events.push(SessionEvent::StepHandedOut { node, after, step, prompt, nonce });
    }
}

fn expired(lease: &Lease) -> SessionEvent {
    SessionEvent::DriverExpired { epoch: lease.epoch, expired_at: lease.expires_at }
}
