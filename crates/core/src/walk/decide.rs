//! Asking a policy on the way.
//!
//! A decision needs nothing from outside: it is made in the search itself, so what led to it and what followed from it
//! are one entry of the log.

use longhaul_events::{Content, SessionEvent};
use serde_json::{Map, Value, json};

use super::{Found, Walk, id_of};
use crate::parking::ParkCode;
use crate::policy;
use crate::workflow::step::Decide;
use crate::workflow::{Step, template};

/// How many decisions one search may take before somebody has to look at the loop that it is in.
const MOST_DECISIONS: usize = 100;

impl<'a> Walk<'a> {
    pub(super) fn rule(&mut self, step: &'a Step, decide: &'a Decide) -> Found<'a> {
        let decided = self.facts.iter().filter(|fact| matches!(fact, SessionEvent::Decided { .. })).count();
        if decided >= MOST_DECISIONS {
            let reason = ParkCode::TooMuchToLookAt.reason(
                format!("{MOST_DECISIONS} policies were asked without anything done in between"),
                "put a step that does something in the loop around this one",
            );
            return Found::Park(step, vec![reason]);
        }
        let scope = self.scope();
        let given: Map<String, Value> = decide
            .with
            .iter()
            .map(|(name, value)| (name.clone(), template::resolve(value, &scope)))
            .collect();
        let ruling = policy::decide(decide.policy, &decide.settings, &given);
        self.facts.push(SessionEvent::Decided {
            step: id_of(step),
            policy: decide.policy.word().to_owned(),
            given: Content::Inline(json!({ "with": given, "settings": decide.settings })),
            decision: ruling.decision.to_owned(),
            because: ruling.because.clone(),
        });
        self.keep(step, &decide.into, ruling.value())
    }
}
