//! What a trigger would make of a request, or when it is due, without anything being begun.

use longhaul_core::schedule::Upcoming;
use longhaul_core::trigger::{
    Delivery, Evidence, Line, Outcome, Problem, Shown, Start, Webhook, authenticate, examine, payload_of,
};

use super::error::TriggerError;
use super::{TriggerState, Triggers};
use crate::clock::{Clock as _, SystemClock};
use crate::error::Error;
use crate::system::System;

/// How many ticks are told.
const TICKS: usize = 3;

/// What trying a trigger told.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    pub name: String,
    pub start: &'static str,
    pub state: TriggerState,
    pub lines: Vec<Line>,
    /// Where it takes requests or a person: what would become of it.
    pub outcome: Option<Outcome>,
    /// Where it has a schedule.
    pub next: Vec<Upcoming>,
}

impl Trial {
    /// Whether a task would begin.
    pub fn begins(&self) -> bool {
        self.state == TriggerState::Ok
            && match &self.outcome {
                Some(Outcome::Wanted { .. }) => true,
                Some(Outcome::NotWanted { .. } | Outcome::Refused(_)) => false,
                None => !self.next.is_empty(),
            }
    }
}

impl System {
    /// Tries a trigger of a list on a request.
    pub fn try_trigger(
        &self,
        triggers: &Triggers,
        id: &str,
        request: Option<&Delivery>,
    ) -> Result<Trial, Error> {
        let entry = triggers.find(id)?;
        let trigger = entry.trigger();
        let mut trial = Trial {
            name: entry.full_name(),
            start: trigger.start.word(),
            state: entry.state(),
            lines: Vec::new(),
            outcome: None,
            next: Vec::new(),
        };
        match (&trigger.start, request) {
            (Start::Webhook(webhook), Some(request)) => {
                let signature = self.signature(webhook, request)?;
                let refused = match &signature {
                    Signature::Wrong(problem) => Some(problem.clone()),
                    Signature::Right | Signature::Unlooked => None,
                };
                trial.lines.push(signature.line(&webhook.header));
                let (lines, outcome) = match payload_of(&request.body) {
                    Ok(payload) => examine(trigger, &payload),
                    Err(problem) => (Vec::new(), Outcome::Refused(problem)),
                };
                trial.lines.extend(lines);
                trial.outcome = Some(refused.map_or(outcome, Outcome::Refused));
            }
            (Start::Webhook(_), None) => {
                return Err(TriggerError::NoPayload { id: trigger.id.clone() }.into());
            }
            (Start::Schedule(_) | Start::Hand | Start::Github, Some(_)) => {
                return Err(TriggerError::NotForRequests { id: trigger.id.clone() }.into());
            }
            (Start::Schedule(schedule), None) => {
                trial.lines = examine(trigger, &serde_json::Value::Null).0;
                trial.next = schedule.upcoming(SystemClock.now(), TICKS);
            }
            (Start::Hand, None) => {
                let (lines, outcome) = examine(trigger, &serde_json::Value::Null);
                (trial.lines, trial.outcome) = (lines, Some(outcome));
            }
            (Start::Github, None) => {}
        }
        Ok(trial)
    }

    /// A request without a signature can be tried, too: its sender is whoever tries it.
    fn signature(&self, webhook: &Webhook, request: &Delivery) -> Result<Signature, Error> {
        if !request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(&webhook.header)) {
            return Ok(Signature::Unlooked);
        }
        let key = self.key(webhook.secret.as_str())?;
        let secret = key.as_ref().map(crate::secrets::Key::reveal);
        let evidence = Evidence { secret, now: SystemClock.now() };
        Ok(authenticate(webhook, request, evidence).map_or_else(Signature::Wrong, |()| Signature::Right))
    }
}

enum Signature {
    Right,
    Wrong(Problem),
    /// There is none.
    Unlooked,
}

impl Signature {
    fn line(&self, header: &str) -> Line {
        let (value, shown) = match self {
            Self::Right => ("right".to_owned(), Shown::Holds),
            Self::Wrong(problem) => (problem.to_string(), Shown::Fails),
            Self::Unlooked => (format!("not looked at: no header `{header}` was given"), Shown::Told),
        };
        Line { depth: 0, what: "signature".to_owned(), value: Some(value), shown }
    }
}
