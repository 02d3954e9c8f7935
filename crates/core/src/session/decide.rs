//! From a command to the facts that it would add. Reads state, changes nothing.

use longhaul_events::{
    AgentAct, CloseOutcome, Content, Driver, Epoch, NodeId, Nonce, OwnCheckout, Reason, Restored,
    SessionEvent, Timestamp, Waits,
};

use super::command::{
    Actor, Arrival, Command, FinishStep, GateAnswer, KeptAs, KeptSnapshot, NewBudget, NewGate, NewStep,
    Onward, OpenSession, RefuseAttempt, Rejection, RewindTo,
};
use crate::parking::ParkCode;

use super::{At, Lease, MOST_RETURNS, OpenGate, Park, Session, StopWish, Workplace};

/// The code of the reason that says how often one may still try.
pub const ATTEMPTS_LEFT: &str = "attempts_left";

/// Who goes on with a session that nobody had to look after.
const BY_ITSELF: &str = "longhaul";

/// No driver asks for more.
const LONGEST_LEASE_MS: u64 = 60 * 60 * 1000;

impl Session {
    /// The facts that make a session.
    pub fn open(command: OpenSession) -> Vec<SessionEvent> {
        let OpenSession { key, goal, workspace, parent, task, workflow } = command;
        let mut events = vec![SessionEvent::Opened { key, goal, workspace, parent, task }];
        if let Some(pin) = workflow {
            let (id, version, hash) = (pin.id, pin.version, pin.hash);
            let (workflow, checkout) = (pin.workflow, pin.checkout);
            events.push(SessionEvent::WorkflowPinned { id, version, hash, workflow, checkout });
            if !pin.vars.is_empty() {
                events.push(SessionEvent::VarsChanged { set: pin.vars, unset: Vec::new() });
            }
            Trail { before: 0, events: &mut events }.go(None, pin.onward);
        }
        events
    }

    /// Says which facts a command would add. Reads state, changes nothing.
    pub fn decide(&self, command: Command) -> Result<Vec<SessionEvent>, Rejection> {
        if self.closed.is_some() && !command.may_follow_the_end() {
            return Err(Rejection::Closed);
        }
        match command {
            Command::Rewind { rewind } => self.rewind(rewind),
            Command::Continue { actor, text, step } => self.carry_on(actor, text, step),
            Command::TakeDriver { driver, lease_ms, now } => self.take_driver(driver, now, lease_ms),
            Command::NoticeDeath { epoch, now } => {
                let lease = self.lease_of(epoch)?;
                let expired_at = now.min(lease.expires_at);
                Ok(vec![SessionEvent::DriverExpired { epoch, expired_at }])
            }
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
            Command::Refuse { actor, refuse } => self.refuse(actor, refuse),
            Command::Reissue { actor, node, nonce } => self.reissue(actor, node, nonce),
            Command::StartWork { epoch, work, what } => {
                self.work(epoch, work)?;
                Ok(vec![SessionEvent::WorkStarted { work, epoch, what }])
            }
            Command::FinishWork { epoch, work, result, onward } => {
                self.work(epoch, work)?;
                Ok(self.finish_work(SessionEvent::WorkFinished { work, epoch, result }, work, onward))
            }
            Command::AnswerGate { actor, answer } => self.answer_gate(actor, answer),
            Command::ExpireGate { now } => self.expire_gate(now),
            Command::Checkpoint { actor, node, notes } => {
                let mut events = self.permit(actor)?;
                events.push(SessionEvent::Checkpointed { node, notes });
                Ok(events)
            }
            Command::Report { kind, report } => {
                Ok(vec![SessionEvent::Reported { node: self.node(), kind, report }])
            }
            Command::Assign { actor, agent, settings, taint, budget } => {
                self.assign(actor, AgentAct::Assigned { agent, settings, because: None, taint }, budget)
            }
            Command::Settle { node, act } => Ok(self.settle(node, act)),
            Command::Wake { node, nonce, now } => self.wake(node, nonce, now),
            Command::SetBudget { budget, nonce } => self.set_budget(budget, nonce),
            Command::Steer { words, by, nonce } => self.steer(AgentAct::Steered { words, by }, nonce),
            Command::Tell { words, by } => self.tell(AgentAct::Steered { words, by }),
            Command::Act { epoch, acts } => {
                self.lease_of(epoch)?;
                let node = self.node();
                Ok(acts.into_iter().map(|act| SessionEvent::Agent { node, act }).collect())
            }
            Command::Park { epoch, reasons, waits } => self.park(epoch, reasons, waits),
            Command::RequestStop { wish } => Ok(self.request_stop(wish)),
            Command::Close { actor, outcome } => self.close(actor, outcome),
            Command::MakeCheckout { checkout } => self.make_checkout(checkout),
            Command::KeepSnapshot { kept, as_what } => self.keep_snapshot(kept, as_what),
            Command::RemoveCheckout { by, because } => self.remove_checkout(by, because),
            Command::Deliver { epoch, work, fact } => {
                self.work(epoch, work)?;
                Ok(vec![SessionEvent::Delivery { work, epoch, fact }])
            }
        }
    }

    /// Whoever is answered next must not find the session still driven.
    fn finish_work(&self, finished: SessionEvent, work: NodeId, onward: Onward) -> Vec<SessionEvent> {
        let released = self.lease.iter().map(|lease| SessionEvent::DriverReleased { epoch: lease.epoch });
        let mut events: Vec<SessionEvent> = std::iter::once(finished).chain(released).collect();
        self.trail(&mut events).go(Some(work), onward);
        events
    }

    fn make_checkout(&self, checkout: OwnCheckout) -> Result<Vec<SessionEvent>, Rejection> {
        match &self.workplace {
            Some(Workplace { checkout: there, is_gone: false, .. }) => {
                Err(Rejection::HasCheckout { name: there.name.clone(), path: there.path.clone() })
            }
            Some(_) | None => Ok(vec![SessionEvent::CheckoutMade { checkout }]),
        }
    }

    /// The same snapshot is put on record once, and once more if another node begins with it.
    fn keep_snapshot(&self, kept: KeptSnapshot, as_what: KeptAs) -> Result<Vec<SessionEvent>, Rejection> {
        let KeptSnapshot { snapshot, tree, head, because, left_out } = kept;
        let workplace = self.workplace.as_ref().ok_or(Rejection::NoCheckout)?;
        let node = self.node();
        let begins = match as_what {
            // Somebody may have taken the session elsewhere meanwhile.
            KeptAs::Beginning(begun) => node.filter(|node| *node == begun),
            KeptAs::Between => None,
        };
        let is_known = begins.is_none() || workplace.begins == begins;
        if is_known && workplace.snapshot.as_ref() == Some(&snapshot) {
            return Ok(Vec::new());
        }
        Ok(vec![SessionEvent::Snapshotted { node, snapshot, tree, head, because, left_out, begins }])
    }

    fn remove_checkout(&self, by: String, because: String) -> Result<Vec<SessionEvent>, Rejection> {
        match &self.workplace {
            Some(Workplace { checkout, is_gone: false, snapshot, .. }) => {
                let (name, snapshot) = (checkout.name.clone(), snapshot.clone());
                Ok(vec![SessionEvent::CheckoutRemoved { name, snapshot, by, because }])
            }
            Some(_) | None => Err(Rejection::NoCheckout),
        }
    }

    fn take_driver(
        &self,
        driver: Driver,
        now: Timestamp,
        lease_ms: u64,
    ) -> Result<Vec<SessionEvent>, Rejection> {
        self.refuse_if_stopping()?;
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
        if let Some(step) = self.step() {
            return Err(Rejection::StepIsOut { step: step.clone() });
        }
        self.trail(&mut events).hand_out(None, step);
        Ok(events)
    }

    fn finish(&self, actor: Actor, finish: FinishStep) -> Result<Vec<SessionEvent>, Rejection> {
        let FinishStep { node, nonce, payload, payload_hash, answer, onward, restored } = finish;
        let mut events = self.take_up(actor, node, nonce, restored)?;
        let epoch = actor.epoch;
        events.push(SessionEvent::StepFinished { node, nonce, payload, payload_hash, answer, epoch });
        self.trail(&mut events).go(Some(node), onward);
        Ok(events)
    }

    fn refuse(&self, actor: Actor, refuse: RefuseAttempt) -> Result<Vec<SessionEvent>, Rejection> {
        let RefuseAttempt { node, nonce, payload, payload_hash, reasons, retry, attempts, restored } = refuse;
        let refusals = self.tip().filter(|_| self.is_tip(node, nonce)).map_or(0, |tip| tip.refusals) + 1;
        let mut events = self.take_up(actor, node, nonce, restored)?;
        let (step, place) = if let Some(SessionEvent::Forked { restored: Some(restored), .. }) = events.last()
        {
            (restored.step.clone(), restored.place.clone())
        } else {
            let tip = self.tip().ok_or(Rejection::NotLive { node, nonce })?;
            (tip.step.clone(), self.place.clone())
        };
        let reasons = with_attempts_left(reasons, attempts.saturating_sub(refusals), attempts);
        let epoch = actor.epoch;
        events.push(SessionEvent::AttemptRefused {
            node,
            nonce,
            payload,
            payload_hash,
            reasons,
            retry,
            epoch,
        });
        if refusals >= attempts {
            let reasons = vec![self.out_of_attempts(&step.0, attempts)];
            let park = Arrival::Park { step, reasons, place };
            self.trail(&mut events).go(Some(node), park.into());
        }
        Ok(events)
    }

    fn out_of_attempts(&self, step: &str, attempts: u32) -> Reason {
        let id = self.id;
        ParkCode::AttemptsUsedUp.reason(
            format!("step `{step}` was refused {attempts} times, which is all it allows"),
            format!(
                "a person looks at the refusals (`longhaul session show {id}`), then takes it up again (`longhaul session rewind {id} --to {step} --reason TEXT`) or ends it (`longhaul session cancel {id}`)"
            ),
        )
    }

    /// Lets a live handle act: the newest as it is, a reissued one by a fork.
    fn take_up(
        &self,
        actor: Actor,
        node: NodeId,
        nonce: Nonce,
        restored: Option<Restored>,
    ) -> Result<Vec<SessionEvent>, Rejection> {
        if !self.is_live(node, nonce) {
            return Err(Rejection::NotLive { node, nonce });
        }
        let mut events = self.permit(actor)?;
        if !self.is_tip(node, nonce) {
            if self.returns >= MOST_RETURNS {
                return Err(Rejection::TooManyReturns { returns: self.returns });
            }
            let restored = restored.map(Box::new);
            events.push(SessionEvent::Forked { from: node, nonce, left: self.node(), restored });
        }
        Ok(events)
    }

    fn reissue(&self, actor: Actor, node: NodeId, nonce: Nonce) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = self.permit(actor)?;
        if node.0 > self.seq {
            return Err(Rejection::NoSuchNode { node });
        }
        self.refuse_if_delivered(node)?;
        events.push(SessionEvent::HandleReissued { node, nonce });
        Ok(events)
    }

    fn park(
        &self,
        epoch: Epoch,
        reasons: Vec<Reason>,
        waits: Option<Waits>,
    ) -> Result<Vec<SessionEvent>, Rejection> {
        self.lease_of(epoch)?;
        let tip = self.tip().ok_or(Rejection::NothingToPark)?;
        let park = Arrival::Park { step: tip.step.clone(), reasons, place: self.place.clone() };
        let mut events = vec![SessionEvent::DriverReleased { epoch }];
        self.trail(&mut events).go(Some(tip.node), park.into());
        if let Some(SessionEvent::Parked { waits: due, .. }) = events.last_mut() {
            *due = waits;
        }
        Ok(events)
    }

    fn settle(&self, node: Option<NodeId>, act: AgentAct) -> Vec<SessionEvent> {
        vec![SessionEvent::Agent { node: node.or(self.node()), act }]
    }

    /// The node makes it happen once for each time that it was parked.
    fn wake(&self, node: NodeId, nonce: Nonce, now: Timestamp) -> Result<Vec<SessionEvent>, Rejection> {
        self.refuse_if_stopping()?;
        match &self.at {
            At::Parked(Park { node: at, out: Some(out), step, waits: Some(waits), .. })
                if *at == node && waits.wake_at <= now =>
            {
                let (step, by) = (step.clone(), BY_ITSELF.to_owned());
                let unparked = SessionEvent::Unparked { node: *out, nonce, step, by };
                Ok(vec![unparked, SessionEvent::Agent { node: Some(*out), act: AgentAct::Woken }])
            }
            At::Parked(_) | At::Nothing | At::Step(_) | At::Work(_) | At::Gate(_) => Err(Rejection::NotDue),
        }
    }

    fn assign(
        &self,
        actor: Actor,
        assigned: AgentAct,
        budget: NewBudget,
    ) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = self.permit(actor)?;
        events.push(SessionEvent::Agent { node: self.node(), act: assigned });
        events.push(budgeted(budget, self.node()));
        Ok(events)
    }

    /// The step that was out is taken up as it was, if nothing but the want of means kept it from going on.
    fn set_budget(&self, budget: NewBudget, nonce: Nonce) -> Result<Vec<SessionEvent>, Rejection> {
        self.refuse_if_stopping()?;
        Ok(match &self.at {
            At::Parked(Park { out: Some(node), step, code, .. })
                if ParkCode::of(code).is_some_and(ParkCode::is_lifted_by_means) =>
            {
                let by = budget.by.clone();
                let unparked = SessionEvent::Unparked { node: *node, nonce, step: step.clone(), by };
                vec![unparked, budgeted(budget, Some(*node))]
            }
            At::Parked(_) | At::Nothing | At::Step(_) | At::Work(_) | At::Gate(_) => {
                vec![budgeted(budget, self.node())]
            }
        })
    }

    /// What is said is said at the step that is out, so that it is part of what was said there.
    fn steer(&self, act: AgentAct, nonce: Nonce) -> Result<Vec<SessionEvent>, Rejection> {
        self.refuse_if_stopping()?;
        if self.agent.is_none() {
            return Err(Rejection::NotDriven);
        }
        match (&self.at, act) {
            (At::Step(tip), act) => Ok(vec![SessionEvent::Agent { node: Some(tip.node), act }]),
            (At::Parked(Park { out: Some(node), step, .. }), AgentAct::Steered { words, by }) => {
                let (node, step) = (*node, step.clone());
                let unparked = SessionEvent::Unparked { node, nonce, step, by: by.clone() };
                let act = AgentAct::Steered { words, by };
                Ok(vec![unparked, SessionEvent::Agent { node: Some(node), act }])
            }
            (At::Parked(_) | At::Nothing | At::Work(_) | At::Gate(_), _) => Err(Rejection::NobodyListens),
        }
    }

    /// Who has no step at the moment hears it with the next one.
    fn tell(&self, act: AgentAct) -> Result<Vec<SessionEvent>, Rejection> {
        self.refuse_if_stopping()?;
        if self.agent.is_none() {
            return Err(Rejection::NotDriven);
        }
        let node = match &self.at {
            At::Nothing => return Err(Rejection::NobodyListens),
            At::Step(tip) => tip.node,
            At::Work(work) => work.work,
            At::Gate(gate) => gate.gate,
            At::Parked(park) => park.out.unwrap_or(park.node),
        };
        Ok(vec![SessionEvent::Agent { node: Some(node), act }])
    }

    fn work(&self, epoch: Epoch, work: NodeId) -> Result<(), Rejection> {
        self.lease_of(epoch)?;
        self.working().filter(|open| open.work == work).map(|_| ()).ok_or(Rejection::NoSuchWork { work })
    }

    fn answer_gate(&self, actor: Actor, answer: GateAnswer) -> Result<Vec<SessionEvent>, Rejection> {
        let GateAnswer { gate, verdict, by, channel, words, onward } = answer;
        let open = self.gate_of(gate)?;
        if channel < open.accepts {
            return Err(Rejection::WeakChannel { accepts: open.accepts, channel });
        }
        if actor.now >= open.until {
            return self.expire_gate(actor.now);
        }
        let mut events = self.permit(actor)?;
        events.push(SessionEvent::GateAnswered { gate, verdict, by, channel, words });
        self.trail(&mut events).go(Some(gate), onward);
        Ok(events)
    }

    fn expire_gate(&self, now: Timestamp) -> Result<Vec<SessionEvent>, Rejection> {
        let Some(OpenGate { gate, until, .. }) = self.gate() else { return Ok(Vec::new()) };
        if now < *until {
            return Err(Rejection::GateNotDue { until: *until });
        }
        let reason = "nobody answered the gate in time".to_owned();
        Ok(vec![
            SessionEvent::GateExpired { gate: *gate, until: *until },
            SessionEvent::Closed { outcome: CloseOutcome::Failed { reason } },
        ])
    }

    fn gate_of(&self, gate: NodeId) -> Result<&OpenGate, Rejection> {
        self.gate().filter(|open| open.gate == gate).ok_or(Rejection::NoSuchGate { gate })
    }

    fn rewind(&self, rewind: RewindTo) -> Result<Vec<SessionEvent>, Rejection> {
        self.refuse_if_stopping()?;
        if matches!(self.closed, Some(CloseOutcome::Cancelled { .. })) {
            return Err(Rejection::Cancelled);
        }
        let RewindTo { node, reason, by, restored, restore, nonce, arrival } = rewind;
        if node.0 > self.seq {
            return Err(Rejection::NoSuchNode { node });
        }
        self.refuse_if_delivered(node)?;
        // A person's word goes before a runner's: it learns of it when it next renews.
        let mut events = self.released();
        events.push(SessionEvent::Rewound { to: node, reason, by, restore });
        let left = self.node();
        events.push(SessionEvent::Forked { from: node, nonce, left, restored: Some(Box::new(restored)) });
        self.trail(&mut events).go(Some(node), arrival.into());
        Ok(events)
    }

    fn carry_on(&self, actor: Actor, text: Content, step: NewStep) -> Result<Vec<SessionEvent>, Rejection> {
        if self.closed != Some(CloseOutcome::Completed) {
            return Err(Rejection::NotCompleted);
        }
        let mut events = self.permit(actor)?;
        events.push(SessionEvent::Continued { phase: self.phase.saturating_add(1), text });
        self.trail(&mut events).hand_out(None, step);
        Ok(events)
    }

    fn refuse_if_stopping(&self) -> Result<(), Rejection> {
        match &self.stop {
            Some(StopWish { by, .. }) => Err(Rejection::Stopping { by: by.clone() }),
            None => Ok(()),
        }
    }

    /// Who says the same again adds nothing.
    fn request_stop(&self, wish: StopWish) -> Vec<SessionEvent> {
        let StopWish { by, urgency, reason } = wish;
        match &self.stop {
            Some(before) if before.urgency >= urgency => Vec::new(),
            Some(_) | None => vec![SessionEvent::StopRequested { by, urgency, reason }],
        }
    }

    fn close(&self, actor: Actor, outcome: CloseOutcome) -> Result<Vec<SessionEvent>, Rejection> {
        let mut events = match outcome {
            CloseOutcome::Cancelled { .. } => self.released(),
            CloseOutcome::Completed | CloseOutcome::Failed { .. } => self.permit(actor)?,
        };
        events.push(SessionEvent::Closed { outcome });
        Ok(events)
    }

    /// Takes the lease away, whoever holds it.
    fn released(&self) -> Vec<SessionEvent> {
        let release = |lease: &Lease| SessionEvent::DriverReleased { epoch: lease.epoch };
        self.lease.iter().map(release).collect()
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
            (Some(lease), None) if is_over(lease, actor.now) => Ok(vec![expired(lease)]),
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

    fn trail<'a>(&self, events: &'a mut Vec<SessionEvent>) -> Trail<'a> {
        Trail { before: self.seq.0, events }
    }
}

/// Events that are being added after those that are stored. A node is named after the event that makes it,
/// so its number is known before it is stored.
struct Trail<'a> {
    before: u64,
    events: &'a mut Vec<SessionEvent>,
}

impl Trail<'_> {
    fn next(&self) -> NodeId {
        NodeId(longhaul_events::Seq(self.before + self.events.len() as u64 + 1))
    }

    fn go(mut self, after: Option<NodeId>, onward: Onward) {
        self.events.extend(onward.facts);
        match onward.arrival {
            Arrival::Step(step) => self.hand_out(after, step),
            Arrival::Work { step, place } => {
                let work = self.next();
                self.events.push(SessionEvent::WorkBegan { work, after, step, place });
            }
            Arrival::Gate(gate) => self.open_gate(after, gate),
            Arrival::Park { step, reasons, place } => {
                debug_assert!(
                    reasons.iter().all(|reason| ParkCode::of(&reason.code).is_some()),
                    "who parks a session takes the code from the table: {reasons:?}"
                );
                let node = self.next();
                self.events.push(SessionEvent::Parked { node, after, step, reasons, place, waits: None });
            }
            Arrival::Close(outcome) => self.events.push(SessionEvent::Closed { outcome }),
        }
    }

    fn hand_out(&mut self, after: Option<NodeId>, step: NewStep) {
        let node = self.next();
        let NewStep { step, prompt, nonce, place } = step;
        self.events.push(SessionEvent::StepHandedOut { node, after, step, prompt, nonce, place });
    }

    fn open_gate(&mut self, after: Option<NodeId>, gate: NewGate) {
        let NewGate { step, kind, question, accepts, until, place } = gate;
        let gate = self.next();
        self.events.push(SessionEvent::GateOpened {
            gate,
            after,
            step,
            kind,
            question,
            accepts,
            until,
            place,
        });
    }
}

fn budgeted(budget: NewBudget, node: Option<NodeId>) -> SessionEvent {
    let NewBudget { caps, by } = budget;
    SessionEvent::Agent { node, act: AgentAct::Budgeted { caps, by } }
}

/// A lease that ends far in the future was taken under a clock that was wrong.
fn is_over(lease: &Lease, now: Timestamp) -> bool {
    now >= lease.expires_at || lease.expires_at > now.plus_ms(LONGEST_LEASE_MS)
}

fn expired(lease: &Lease) -> SessionEvent {
    SessionEvent::DriverExpired { epoch: lease.epoch, expired_at: lease.expires_at }
}

/// A reason like the others, and so recorded with them: the same call gets the same words for ever.
fn with_attempts_left(mut reasons: Vec<Reason>, left: u32, attempts: u32) -> Vec<Reason> {
    let are = if left == 1 { "is" } else { "are" };
    let fix = match left {
        0 => "a person has to look at it now",
        _ => "mend everything above, then hand in all of the answer again",
    };
    reasons.push(Reason::new(ATTEMPTS_LEFT, format!("{left} of {attempts} attempts {are} left"), fix));
    reasons
}
