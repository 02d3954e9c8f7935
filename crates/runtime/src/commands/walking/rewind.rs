//! Going back on purpose, going on after the end, giving up.

use longhaul_core::session::{Command, NewStep, RewindTo, Session};
use longhaul_core::walk::follow_up;
use longhaul_core::walk::view::StepView;
use longhaul_events::{CloseOutcome, Content, NodeId, Seq, SessionEvent, SessionId, StepId};
use serde_json::json;

use super::{Commands, check_text};
use crate::error::Error;
use crate::recorder::{Contents, Decided};

#[derive(Debug, Clone)]
pub struct Rewind {
    pub session: SessionId,
    /// The step to go back to, as it was last handed out.
    pub step: StepId,
    pub reason: String,
    pub by: String,
}

impl Commands {
    /// Takes a session back to an earlier step: a fork with a reason. Touches no file.
    pub fn rewind(&self, rewind: &Rewind) -> Result<StepView, Error> {
        check_text("the reason", &rewind.reason)?;
        let (node, prompt) = self.last_hand_out(rewind)?;
        let restored = self.state_at(rewind.session, node)?;
        let ((), after) = self.decide_and_keep(rewind.session, &Contents::default(), |session| {
            let step = NewStep {
                step: restored.step.clone(),
                prompt: prompt.clone(),
                nonce: self.nonce(),
                place: restored.place.clone(),
            };
            let rewind = RewindTo {
                node,
                reason: Content::Inline(json!(rewind.reason)),
                by: rewind.by.clone(),
                restored: restored.clone(),
                step,
            };
            let command = Command::Rewind { actor: self.actor(None), rewind };
            Ok(Decided::Events(session.decide(command)?, ()))
        })?;
        let shown = self.shown(&after.state, &after.events)?.expect("rewinding hands out");
        let left = "files are as they are: a rewind takes back steps, not changes to the checkout";
        self.view(&after.state, shown, vec![left.to_owned()])
    }

    fn last_hand_out(&self, rewind: &Rewind) -> Result<(NodeId, Content), Error> {
        let mut last = None;
        self.each_decision(rewind.session, Seq(0), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::StepHandedOut { node, step, prompt, .. } = event
                    && step == rewind.step
                {
                    last = Some((node, prompt));
                }
            }
            Ok(None::<()>)
        })?;
        last.ok_or_else(|| Error::NeverHandedOut { session: rewind.session, step: rewind.step.0.clone() })
    }

    /// Opens a follow-up phase of a completed session.
    pub fn continue_session(&self, id: SessionId, text: &str) -> Result<StepView, Error> {
        check_text("the text", text)?;
        let ((), after) = self.decide_and_keep(id, &Contents::default(), |session| {
            let workflow = self.workflow_of(session)?;
            let standing = self.standing_of(&workflow, session)?;
            let step = follow_up::ask(&standing, session.phase + 1, text, self.nonce());
            let text = Content::Inline(json!(text));
            let command = Command::Continue { actor: self.actor(None), text, step };
            Ok(Decided::Events(session.decide(command)?, ()))
        })?;
        let shown = self.shown(&after.state, &after.events)?.expect("continuing hands out");
        self.view(&after.state, shown, Vec::new())
    }

    /// Ends a session for good, on somebody's word.
    pub fn cancel_session(&self, id: SessionId, by: &str, reason: Option<&str>) -> Result<(), Error> {
        check_text("the reason", reason.unwrap_or_default())?;
        let outcome = CloseOutcome::Cancelled { by: by.to_owned(), reason: reason.map(str::to_owned) };
        self.close_session(id, &outcome, None)
    }

    /// A session as its events have it.
    pub fn session(&self, id: SessionId) -> Result<Session, Error> {
        self.load_session(id)
    }
}
