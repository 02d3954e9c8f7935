//! Notes and vars from the middle of a step, so that they outlive whoever does it.

use longhaul_core::handle::Handle;
use longhaul_core::session::{Command, Session};
use longhaul_core::walk;
use longhaul_core::workflow::answer;
use longhaul_events::{Content, NodeId, Seq, SessionEvent, SessionId};
use serde_json::{Map, Value, json};

use super::{Commands, check_text};
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// What was found so far.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub token: Handle,
    pub notes: String,
    /// Kept beside the notes and set by nobody: the answer to the step sets vars.
    pub vars: Map<String, Value>,
}

impl Commands {
    /// Keeps notes for a step that is not done yet. Changes nothing else; said twice, it is kept once.
    pub fn checkpoint(&self, checkpoint: &Checkpoint) -> Result<SessionId, Error> {
        let token = &checkpoint.token;
        let kept = checkpoint.content();
        check_text("the notes", &checkpoint.notes)?;
        check_text("the vars", &Value::Object(checkpoint.vars.clone()).to_string())?;
        self.decide_and_keep(token.session, &Contents::default(), |session| {
            check_token(session, token)?;
            if self.is_kept(session.id, token.node, &kept)? {
                return Ok(Decided::Nothing(token.session));
            }
            self.check_vars(session, checkpoint)?;
            let notes = Content::Inline(kept.clone());
            let command = Command::Checkpoint { actor: self.actor(None), node: token.node, notes };
            Ok(Decided::Events(session.decide(command)?, token.session))
        })
        .map(|(id, _)| id)
    }

    /// Refuses what the answer to the step could not set either.
    fn check_vars(&self, session: &Session, checkpoint: &Checkpoint) -> Result<(), Error> {
        if checkpoint.vars.is_empty() {
            return Ok(());
        }
        let workflow = self.workflow_of(session)?;
        let step = self.handed_out(session.id, checkpoint.token.node)?.step;
        let Some(step) = walk::step_or_follow_up(&workflow, &step.0) else { return Ok(()) };
        let standing = self.standing_of(&workflow, session)?;
        let reasons = answer::check_vars(&workflow, &step, &walk::scope(&standing), &checkpoint.vars);
        if reasons.is_empty() { Ok(()) } else { Err(Error::BadAnswer(reasons)) }
    }

    /// Whether the very same was kept at this node before. Compared as it is stored, without secrets.
    fn is_kept(&self, id: SessionId, node: NodeId, kept: &Value) -> Result<bool, Error> {
        let mut kept = kept.clone();
        self.recorder.scrubber().value(&mut kept);
        let found = self.each_decision(id, Seq(node.0.0.saturating_sub(1)), |decision| {
            for event in decision.readable_events::<SessionEvent>()? {
                if let SessionEvent::Checkpointed { node: at, notes } = &event
                    && *at == node
                    && self.value_of(notes)? == kept
                {
                    return Ok(Some(()));
                }
            }
            Ok(None)
        })?;
        Ok(found.is_some())
    }
}

impl Checkpoint {
    /// Notes alone are a text, as they always were.
    fn content(&self) -> Value {
        if self.vars.is_empty() {
            return json!(self.notes);
        }
        json!({ "notes": self.notes, "vars": self.vars })
    }
}

fn check_token(session: &Session, token: &Handle) -> Result<(), Error> {
    if session.has_signed(token) {
        return Err(Error::NotForNotes);
    }
    if session.has_signed_checkpoint(token) { Ok(()) } else { Err(Error::ForgedHandle(token.session)) }
}
