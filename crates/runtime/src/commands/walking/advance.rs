//! Advancing: an answer is judged, recorded and answered, once and for ever.

use std::sync::Arc;

use longhaul_core::canonical;
use longhaul_core::handle::Handle;
use longhaul_core::session::{Command, FinishStep, RefuseAttempt, Rejection, Session};
use longhaul_core::walk::view::StepView;
use longhaul_core::walk::{self, Walk};
use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::answer::{self, Answer};
use longhaul_events::{Content, Digest, Epoch, Reason, Restored};
use serde_json::{Value, json};

use super::Commands;
use super::start::secret_name;
use crate::error::Error;
use crate::recorder::{Contents, Decided};

/// How many vars a session may have: all their names are written with every decision.
const MOST_VARS: usize = 500;

#[derive(Debug, Clone)]
pub struct Advance {
    pub handle: Handle,
    pub answer: Answer,
    /// Named by the driver that holds the session's lease.
    pub epoch: Option<Epoch>,
}

/// An answer in the form in which it is hashed and stored.
pub(super) struct Sent<'a> {
    pub(super) advance: &'a Advance,
    pub(super) payload: Value,
    pub(super) hash: Digest,
}

impl Commands {
    /// Answers a step. The same handle with the same answer gets what was said the first time.
    pub fn advance(&self, advance: &Advance) -> Result<StepView, Error> {
        self.refuse_names(advance)?;
        let payload = advance.answer.to_payload();
        let hash = canonical::hash(&payload)?;
        let sent = Sent { advance, payload, hash };
        let handle = &advance.handle;
        let (is_new, after) = self.decide_and_keep(handle.session, &Contents::default(), |session| {
            if session.has_signed_checkpoint(handle) {
                return Err(Error::NotForAnswers);
            }
            if !session.has_signed(handle) {
                return Err(Error::ForgedHandle(handle.session));
            }
            if !session.is_live(handle.node, handle.nonce) {
                return Ok(Decided::Nothing(false));
            }
            Ok(Decided::Events(session.decide(self.judge(session, &sent)?)?, true))
        })?;
        if !is_new {
            return self.recall(&after.state, &sent);
        }
        let shown = self.shown(&after.state, &after.events, after.at)?.expect("an answer leads somewhere");
        let warnings = self.warnings_in(&after.events)?;
        self.view(&after.state, shown, warnings)
    }

    fn refuse_names(&self, advance: &Advance) -> Result<(), Error> {
        let hides = |name: &&String| self.recorder.scrubber().finds_any(name.as_bytes());
        match advance.answer.vars.keys().find(hides) {
            Some(_) => Err(Error::BadAnswer(vec![secret_name()])),
            None => Ok(()),
        }
    }

    fn judge(&self, session: &Session, sent: &Sent<'_>) -> Result<Command, Error> {
        let handle = &sent.advance.handle;
        let workflow = self.workflow_of(session)?;
        let is_newest = session.is_tip(handle.node, handle.nonce);
        let restored = if is_newest { None } else { Some(self.state_at(session.id, handle.node)?) };
        self.weigh(session, &workflow, sent, restored)
    }

    fn weigh(
        &self,
        session: &Session,
        workflow: &Arc<Workflow>,
        sent: &Sent<'_>,
        restored: Option<Restored>,
    ) -> Result<Command, Error> {
        let handle = &sent.advance.handle;
        let (place, vars) = match &restored {
            Some(restored) => (&restored.place, &restored.vars),
            None => (&session.place, &session.vars),
        };
        let id = match &restored {
            Some(restored) => restored.step.clone(),
            None => session.tip().map(|tip| tip.step.clone()).ok_or(not_live(handle))?,
        };
        let step = walk::step_or_follow_up(workflow, &id.0).ok_or(not_live(handle))?;
        let standing = self.standing(workflow, session, place, vars)?;
        let accepted = answer::check(workflow, &step, &walk::scope(&standing), &sent.advance.answer);
        let room = MOST_VARS.saturating_sub(vars.len());
        let way = accepted.and_then(|accepted| {
            if accepted.set.keys().filter(|name| !vars.contains_key(*name)).count() > room {
                return Err(vec![too_many_vars()]);
            }
            let warnings = accepted.warnings.clone();
            Walk::new(standing, self.given()).after_step(&id, accepted).map(|onward| (onward, warnings))
        });
        let left_behind = restored.as_ref().map(|_| self.left_behind(session.id, handle.node)).transpose()?;
        let (node, nonce, payload_hash) = (handle.node, handle.nonce, sent.hash);
        let payload = Content::Inline(sent.payload.clone());
        let actor = self.actor(sent.advance.epoch);
        Ok(match way {
            Ok((onward, mut warnings)) => {
                warnings.extend(left_behind);
                let answer = Content::Inline(answer_of(&warnings));
                let finish = FinishStep { node, nonce, payload, payload_hash, answer, onward, restored };
                Command::Finish { actor, finish }
            }
            Err(reasons) => {
                let (retry, attempts) = (self.nonce(), step.attempts);
                let refuse =
                    RefuseAttempt { node, nonce, payload, payload_hash, reasons, retry, attempts, restored };
                Command::Refuse { actor, refuse }
            }
        })
    }
}

fn too_many_vars() -> Reason {
    Reason::new(
        "too_many_vars",
        format!("the session would have more than {MOST_VARS} vars"),
        "put what belongs together into one object, or delete vars by setting them to null",
    )
}

fn answer_of(warnings: &[String]) -> Value {
    if warnings.is_empty() { Value::Null } else { json!({ "warnings": warnings }) }
}

fn not_live(handle: &Handle) -> Error {
    Rejection::NotLive { node: handle.node, nonce: handle.nonce }.into()
}
