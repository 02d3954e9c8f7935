//! Gates: answered by whoever may, or closed by time.

use std::collections::BTreeMap;

use longhaul_core::handle::Handle;
use longhaul_core::session::{Arrival, Command, GateAnswer, OpenGate, Rejection, Session};
use longhaul_core::walk::Walk;
use longhaul_core::walk::view::StepView;
use longhaul_events::{
    Channel, CloseOutcome, Content, GateKind, NodeId, Restored, SessionEvent, SessionId, Verdict,
};
use serde_json::json;

use super::{Commands, check_text};
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// An answer to an open gate. How it came in is for the caller to establish.
#[derive(Debug, Clone)]
pub struct AnswerGate {
    pub session: SessionId,
    pub gate: NodeId,
    pub verdict: Verdict,
    pub by: String,
    pub channel: Channel,
    pub words: String,
}

impl Commands {
    pub fn answer_gate(&self, answer: &AnswerGate) -> Result<StepView, Error> {
        check_text("the reason", &answer.words)?;
        self.notice_gate(answer.session)?;
        let ((), after) = self.decide_and_keep(answer.session, &Contents::default(), |session| {
            let open = session.gate().filter(|open| open.gate == answer.gate);
            let open = open.ok_or(Rejection::NoSuchGate { gate: answer.gate })?;
            let onward = self.way_on(session, open, answer)?;
            let command = Command::AnswerGate {
                actor: self.actor(None),
                answer: GateAnswer {
                    gate: answer.gate,
                    verdict: answer.verdict,
                    by: answer.by.clone(),
                    channel: answer.channel,
                    words: Content::Inline(json!(answer.words)),
                    onward,
                },
            };
            Ok(Decided::Events(session.decide(command)?, ()))
        })?;
        let shown = self.shown(&after.state, &after.events, after.at)?.expect("a gate leads somewhere");
        self.view(&after.state, shown, Vec::new())
    }

    /// A proof for a client that it was told to ask about this gate. Only the log of the session can make one.
    pub fn question(&self, id: SessionId, gate: NodeId) -> Result<Handle, Error> {
        Ok(self.load_session(id)?.sign_question(gate, self.nonce()))
    }

    /// Whether a client was told to ask about the gate that this names.
    pub fn has_asked(&self, question: &Handle) -> Result<bool, Error> {
        Ok(self.load_session(question.session)?.has_signed_question(question))
    }

    fn way_on(
        &self,
        session: &Session,
        open: &OpenGate,
        answer: &AnswerGate,
    ) -> Result<longhaul_core::session::Onward, Error> {
        let workflow = self.workflow_of(session)?;
        let walk = Walk::new(self.standing_of(&workflow, session)?, self.given());
        let way = match (answer.verdict, open.kind) {
            (Verdict::Approved, kind) => walk.after_gate(&open.step, kind),
            (Verdict::Rejected, GateKind::Confirmation) => {
                let before = self.before_gate(session, open)?;
                let standing = self.standing(&workflow, session, &before.place, &before.vars)?;
                let undo = undo(&session.vars, &before.vars);
                Walk::new(standing, self.given()).again(&open.step, &answer.words, undo)
            }
            (Verdict::Rejected, GateKind::Gate) => {
                let reason =
                    format!("gate `{}` was rejected by {}: {}", open.step.0, answer.by, answer.words);
                Ok(Arrival::Close(CloseOutcome::Failed { reason }).into())
            }
        };
        // Nobody is there to answer again: what bars the way is for a person to look at.
        Ok(way.unwrap_or_else(|reasons| {
            let (step, place) = (open.step.clone(), session.place.clone());
            Arrival::Park { step, reasons, place }.into()
        }))
    }

    /// What was in force when the step was handed out that waits to be confirmed.
    fn before_gate(&self, session: &Session, open: &OpenGate) -> Result<Restored, Error> {
        let SessionEvent::GateOpened { after: Some(node), .. } = self.event_at(session.id, open.gate.0)?.1
        else {
            return Err(Rejection::NoSuchGate { gate: open.gate }.into());
        };
        self.state_at(session.id, node)
    }

    /// Closes a session whose gate was not answered in time.
    pub fn notice_gate(&self, id: SessionId) -> Result<(), Error> {
        let due = |session: &Session| session.gate().is_some_and(|gate| self.clock.now() >= gate.until);
        if !due(&self.load_session(id)?) {
            return Ok(());
        }
        self.decide_and_keep(id, &Contents::default(), |session| {
            if !due(session) {
                return Ok(Decided::Nothing(()));
            }
            let events = session.decide(Command::ExpireGate { now: self.clock.now() })?;
            Ok(Decided::Events(events, ()))
        })
        .map(|_| ())
    }
}

/// The fact that takes back what an answer set.
fn undo(now: &BTreeMap<String, Content>, before: &BTreeMap<String, Content>) -> SessionEvent {
    let set = before.iter().filter(|(name, content)| now.get(*name) != Some(content));
    let unset = now.keys().filter(|name| !before.contains_key(*name));
    SessionEvent::VarsChanged {
        set: set.map(|(name, content)| (name.clone(), content.clone())).collect(),
        unset: unset.cloned().collect(),
    }
}
