//! What was said before, and where a session stands: read from the log, so it is the same for everybody.

use std::collections::BTreeMap;

use longhaul_core::handle::Handle;
use longhaul_core::session::{At, Session};
use longhaul_core::time::rfc3339;
use longhaul_core::walk;
use longhaul_core::walk::view::{self, HandedOut, Shown, StepView};
use longhaul_core::workflow::render;
use longhaul_events::{
    CloseOutcome, Digest, NodeId, Reason, Restored, Seq, SessionEvent, SessionId, Timestamp,
};
use longhaul_store::Decision;
use serde_json::Value;

use super::Commands;
use super::advance::Sent;
use crate::error::Error;

/// How many steps of a branch that was left are named.
const MOST_LEFT_NAMED: usize = 20;

impl Commands {
    /// Where a session stands now.
    pub fn session_view(&self, id: SessionId) -> Result<StepView, Error> {
        self.notice_gate(id)?;
        let session = self.load_session(id)?;
        let shown = self.standing_shown(&session)?;
        self.view(&session, shown, Vec::new())
    }

    /// Where a session stands, for somebody who was not there: with the guidance of its workflow.
    pub fn resumed_view(&self, id: SessionId) -> Result<StepView, Error> {
        let mut view = self.session_view(id)?;
        let session = self.load_session(id)?;
        let workflow = self.workflow_of(&session)?;
        let standing = self.standing_of(&workflow, &session)?;
        let words = render::taking_up(&workflow, &walk::scope(&standing));
        // The first step says it already.
        let is_known = |prompt: &str| words.split_once("\n\n").is_some_and(|(_, said)| prompt.contains(said));
        view.prompt =
            view.prompt.map(|prompt| if is_known(&prompt) { prompt } else { format!("{words}\n\n{prompt}") });
        Ok(view)
    }

    pub(super) fn view(
        &self,
        session: &Session,
        shown: Shown,
        warnings: Vec<String>,
    ) -> Result<StepView, Error> {
        let mut view = view::view(&*self.workflow_of(session)?, session, shown, warnings);
        if let Some(working) = &mut view.working {
            working.waits_for = self.waits_for(session.id)?.map(|waits| waits.in_words());
        }
        Ok(view)
    }

    /// What these events of a moment came to, if they came to anything.
    pub(super) fn shown(
        &self,
        session: &Session,
        events: &[SessionEvent],
        at: Timestamp,
    ) -> Result<Option<Shown>, Error> {
        for event in events.iter().rev() {
            if let Some(shown) = self.shown_by(session, event, at)? {
                return Ok(Some(shown));
            }
        }
        Ok(None)
    }

    fn shown_by(
        &self,
        session: &Session,
        event: &SessionEvent,
        at: Timestamp,
    ) -> Result<Option<Shown>, Error> {
        Ok(Some(match event {
            SessionEvent::StepHandedOut { node, nonce, step, place, prompt, .. } => {
                let prompt = self.value_of(prompt)?;
                let (step, place) = (step.clone(), place.clone());
                Shown::Step(HandedOut { node: *node, nonce: *nonce, step, place, prompt })
            }
            SessionEvent::AttemptRefused { node, retry, reasons, .. } => {
                let handed_out = self.handed_out(session.id, *node)?;
                Shown::Refused(HandedOut { nonce: *retry, ..handed_out }, reasons.clone())
            }
            SessionEvent::GateOpened { gate, step, kind, question, accepts, .. } => Shown::Gate {
                gate: *gate,
                step: step.clone(),
                kind: *kind,
                question: text(&self.value_of(question)?),
                accepts: *accepts,
            },
            SessionEvent::WorkBegan { step, .. } => Shown::Working { step: step.clone(), since: rfc3339(at) },
            SessionEvent::Parked { step, reasons, .. } => {
                Shown::Parked { step: step.clone(), reasons: reasons.clone() }
            }
            SessionEvent::Unparked { node, nonce, .. } => {
                Shown::Step(HandedOut { nonce: *nonce, ..self.handed_out(session.id, *node)? })
            }
            SessionEvent::Closed { outcome } => self.closed(session.id, outcome)?,
            SessionEvent::Opened { .. }
            | SessionEvent::DriverTaken { .. }
            | SessionEvent::DriverRenewed { .. }
            | SessionEvent::DriverExpired { .. }
            | SessionEvent::DriverReleased { .. }
            | SessionEvent::StepFinished { .. }
            | SessionEvent::HandleReissued { .. }
            | SessionEvent::Forked { .. }
            | SessionEvent::WorkflowPinned { .. }
            | SessionEvent::VarsChanged { .. }
            | SessionEvent::WayChosen { .. }
            | SessionEvent::Decided { .. }
            | SessionEvent::LoopExhausted { .. }
            | SessionEvent::WorkStarted { .. }
            | SessionEvent::WorkFinished { .. }
            | SessionEvent::GateAnswered { .. }
            | SessionEvent::GateExpired { .. }
            | SessionEvent::Checkpointed { .. }
            | SessionEvent::Reported { .. }
            | SessionEvent::Agent { .. }
            | SessionEvent::Rewound { .. }
            | SessionEvent::StopRequested { .. }
            | SessionEvent::Continued { .. }
            | SessionEvent::CheckoutMade { .. }
            | SessionEvent::Snapshotted { .. }
            | SessionEvent::CheckoutRemoved { .. }
            | SessionEvent::Delivery { .. } => return Ok(None),
        }))
    }

    /// An end; one before the last step names where that was.
    fn closed(&self, id: SessionId, outcome: &CloseOutcome) -> Result<Shown, Error> {
        let last = match outcome {
            CloseOutcome::Failed { .. } | CloseOutcome::Cancelled { .. } => {
                self.stops(id)?.pop().map(|stop| stop.step)
            }
            CloseOutcome::Completed => None,
        };
        Ok(Shown::Closed { outcome: outcome.clone(), last })
    }

    /// Where the state says that the session stands.
    pub(super) fn standing_shown(&self, session: &Session) -> Result<Shown, Error> {
        if let Some(outcome) = &session.closed {
            return self.closed(session.id, outcome);
        }
        let node = session.node().ok_or(Error::NoWorkflow(session.id))?;
        if let At::Step(tip) = &session.at {
            // A fork stands at an old node under a fresh nonce.
            let handed_out = HandedOut { nonce: tip.nonce, ..self.handed_out(session.id, node)? };
            return Ok(match self.last_refusal(session)? {
                Some(reasons) if tip.refusals > 0 => Shown::Refused(handed_out, reasons),
                Some(_) | None => Shown::Step(handed_out),
            });
        }
        let (decision, event) = self.event_at(session.id, node.0)?;
        self.shown_by(session, &event, decision.at)?.ok_or(Error::NoWorkflow(session.id))
    }

    fn last_refusal(&self, session: &Session) -> Result<Option<Vec<Reason>>, Error> {
        let Some(tip) = session.tip() else { return Ok(None) };
        let mut last = None;
        self.each_decision(session.id, Seq(tip.node.0.0.saturating_sub(1)), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::AttemptRefused { node, reasons, .. } = event
                    && node == tip.node
                {
                    last = Some(reasons);
                }
            }
            Ok(None::<()>)
        })?;
        Ok(last)
    }

    pub(super) fn handed_out(&self, id: SessionId, node: NodeId) -> Result<HandedOut, Error> {
        let SessionEvent::StepHandedOut { nonce, step, place, prompt, .. } = self.event_at(id, node.0)?.1
        else {
            return Err(longhaul_core::session::Rejection::NoSuchNode { node }.into());
        };
        Ok(HandedOut { node, nonce, step, place, prompt: self.value_of(&prompt)? })
    }

    pub(super) fn event_at(&self, id: SessionId, seq: Seq) -> Result<(Decision, SessionEvent), Error> {
        let unknown = || Error::from(longhaul_core::session::Rejection::NoSuchNode { node: NodeId(seq) });
        let decisions = self.recorder.log.read(id.into(), Seq(seq.0.saturating_sub(1)), 1)?;
        let decision = decisions.into_iter().next().ok_or_else(unknown)?;
        let index = seq.0.checked_sub(decision.seq.0).and_then(|index| usize::try_from(index).ok());
        let events = decision.readable_events::<SessionEvent>()?;
        let event = index.and_then(|index| events.into_iter().nth(index)).ok_or_else(unknown)?;
        Ok((decision, event))
    }

    /// The recorded answer of a handle that was used, or what it has come to since.
    pub(super) fn recall(&self, session: &Session, sent: &Sent<'_>) -> Result<StepView, Error> {
        let handle = &sent.advance.handle;
        self.notice_gate(session.id)?;
        let before = Seq(handle.node.0.0.saturating_sub(1));
        let mut answered = None;
        let mut below = None;
        let found = self.each_decision(session.id, before, |decision| {
            let events = decision.readable_events::<SessionEvent>()?;
            if answered.is_none() {
                let Some((payload, recorded_hash)) = answer_in(&events, handle) else { return Ok(None) };
                if recorded_hash != sent.hash {
                    let mut sent = sent.payload.clone();
                    self.recorder.scrubber().value(&mut sent);
                    return Err(Error::DifferentPayload { recorded: self.value_of(&payload)?, sent });
                }
                answered = Some(self.warnings_in(&events)?);
            } else if events.iter().any(|event| matches!(event, SessionEvent::Forked { .. })) {
                return Ok(Some(None)); // what follows belongs to another branch
            }
            if let Some(work) = self.handed_below(session, &events)? {
                below = self.first_below(session.id, work)?;
                return Ok(Some(None));
            }
            let shown = self.shown(session, &events, decision.at)?;
            Ok(shown.filter(Shown::is_settled).map(Some))
        })?;
        let Some(warnings) = answered else {
            // A handle that was never used: the session was closed under it, or went another way.
            return match &session.closed {
                Some(outcome) => self.view(session, self.closed(session.id, outcome)?, Vec::new()),
                None => Err(Error::Superseded),
            };
        };
        if let Some(view) = below {
            return Ok(StepView { warnings, ..view });
        }
        let is_below = matches!(found, Some(None)) && self.is_handing(session)?;
        let shown = match found {
            Some(Some(settled)) => settled,
            // The first session below is about to be opened.
            Some(None) if is_below => self.standing_shown(&self.load_session(session.id)?)?,
            Some(None) => return Err(Error::Superseded),
            None => self.standing_shown(&self.load_session(session.id)?)?,
        };
        self.view(session, shown, warnings)
    }

    pub(super) fn warnings_in(&self, events: &[SessionEvent]) -> Result<Vec<String>, Error> {
        let answer = events.iter().find_map(|event| {
            let SessionEvent::StepFinished { answer, .. } = event else { return None };
            Some(answer)
        });
        let value = answer.map(|answer| self.value_of(answer)).transpose()?;
        let warnings = value.as_ref().and_then(|value| value["warnings"].as_array());
        Ok(warnings.into_iter().flatten().map(text).collect())
    }

    /// What a fork at a node leaves behind, in words.
    pub(super) fn left_behind(&self, id: SessionId, node: NodeId) -> Result<String, Error> {
        let (mut out, mut steps) = (BTreeMap::new(), Vec::new());
        self.each_decision(id, Seq(node.0.0.saturating_sub(1)), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::StepFinished { node, .. } = &event {
                    steps.extend(out.get(node).cloned());
                }
                if let SessionEvent::StepHandedOut { node, step, .. } = event {
                    out.insert(node, step.0);
                }
            }
            Ok(None::<()>)
        })?;
        let most = steps.len().min(MOST_LEFT_NAMED);
        let more =
            if steps.len() > most { format!(" and {} more", steps.len() - most) } else { String::new() };
        let answers = steps[..most].join(", ");
        Ok(format!(
            "the session went back to node {node}; the answers left behind stay in its log: {answers}{more}"
        ))
    }

    /// Where a session was started.
    pub fn checkout_of(&self, id: SessionId) -> Result<Option<longhaul_events::Checkout>, Error> {
        let opening = self.recorder.log.read(id.into(), Seq(0), 1)?;
        let Some(decision) = opening.first() else { return Err(Error::UnknownSession(id)) };
        Ok(decision.readable_events::<SessionEvent>()?.into_iter().find_map(|event| {
            let SessionEvent::WorkflowPinned { checkout, .. } = event else { return None };
            checkout
        }))
    }

    /// What was in force when a node was handed out.
    pub(super) fn state_at(&self, id: SessionId, node: NodeId) -> Result<Restored, Error> {
        let mut session: Option<Session> = None;
        let found = self.each_decision(id, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                match &mut session {
                    Some(session) => session.apply(&event),
                    None => session = Session::begin(id, &event),
                }
                let Some(session) = &session else { continue };
                let stands = session.seq == node.0 && session.node() == Some(node);
                if let Some(step) = session.step().filter(|_| stands) {
                    let (place, vars) = (session.place.clone(), session.vars.clone());
                    return Ok(Some(Restored { step: step.clone(), place, vars }));
                }
            }
            Ok(None)
        })?;
        found.ok_or_else(|| longhaul_core::session::Rejection::NoSuchNode { node }.into())
    }
}

fn answer_in(events: &[SessionEvent], handle: &Handle) -> Option<(longhaul_events::Content, Digest)> {
    events.iter().find_map(|event| match event {
        SessionEvent::StepFinished { node, nonce, payload, payload_hash, .. }
        | SessionEvent::AttemptRefused { node, nonce, payload, payload_hash, .. } => {
            let same = (*node, *nonce) == (handle.node, handle.nonce);
            same.then(|| (payload.clone(), *payload_hash))
        }
        SessionEvent::Opened { .. }
        | SessionEvent::DriverTaken { .. }
        | SessionEvent::DriverRenewed { .. }
        | SessionEvent::DriverExpired { .. }
        | SessionEvent::DriverReleased { .. }
        | SessionEvent::StepHandedOut { .. }
        | SessionEvent::HandleReissued { .. }
        | SessionEvent::Forked { .. }
        | SessionEvent::Closed { .. }
        | SessionEvent::WorkflowPinned { .. }
        | SessionEvent::VarsChanged { .. }
        | SessionEvent::WayChosen { .. }
        | SessionEvent::Decided { .. }
        | SessionEvent::LoopExhausted { .. }
        | SessionEvent::WorkBegan { .. }
        | SessionEvent::WorkStarted { .. }
        | SessionEvent::WorkFinished { .. }
        | SessionEvent::GateOpened { .. }
        | SessionEvent::GateAnswered { .. }
        | SessionEvent::GateExpired { .. }
        | SessionEvent::Parked { .. }
        | SessionEvent::Unparked { .. }
        | SessionEvent::StopRequested { .. }
        | SessionEvent::Checkpointed { .. }
        | SessionEvent::Reported { .. }
        | SessionEvent::Agent { .. }
        | SessionEvent::Rewound { .. }
        | SessionEvent::Continued { .. }
        | SessionEvent::CheckoutMade { .. }
        | SessionEvent::Snapshotted { .. }
        | SessionEvent::CheckoutRemoved { .. }
        | SessionEvent::Delivery { .. } => None,
    })
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
