//! Who is asked when somebody cannot be: the chain of a tier, gone through from its beginning.
//!
//! Pure and on record: whoever takes a session over asks the same one, and knows who was passed over and why.

use longhaul_events::{Timestamp, TurnFault};
use serde::{Deserialize, Serialize};

use crate::roster::Definition;

/// A chain, and how far it was gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Succession {
    /// At least one.
    members: Vec<Definition>,
    /// Who is asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    at: usize,
    /// Who was passed over since the beginning of the chain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed: Vec<PassedOver>,
}

/// Somebody who could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassedOver {
    pub member: usize,
    pub fault: TurnFault,
    /// When that is over by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// What follows when somebody cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// The next one is.
    Ask(Succession),
    /// There is nobody else. This is what a person is told of, or what is waited for.
    Stop(PassedOver),
}

impl Succession {
    /// `None` without anybody.
    pub fn new(members: Vec<Definition>) -> Option<Self> {
        (!members.is_empty()).then_some(Self { members, at: 0, passed: Vec::new() })
    }

    /// Who is asked now.
    pub fn current(&self) -> &Definition {
        &self.members[self.at.min(self.members.len() - 1)]
    }

    pub fn members(&self) -> &[Definition] {
        &self.members
    }

    /// Whose limit it was, and when it is new again, if that is known of whoever is asked now.
    pub fn pass_over(&self, fault: TurnFault, until: Option<Timestamp>) -> Then {
        let passed = PassedOver { member: self.at, fault, until };
        if !may_be_another_with(fault) {
            return Then::Stop(passed);
        }
        let mut next = self.clone();
        next.passed.push(passed);
        next.at += 1;
        if next.at < next.members.len() { Then::Ask(next) } else { Then::Stop(next.worth_waiting_for()) }
    }

    /// Begins anew with the first whose limit is new again; `None` if nothing has changed.
    pub fn again(&self, now: Timestamp) -> Option<Self> {
        let is_over = |passed: &&PassedOver| passed.until.is_some_and(|until| until <= now);
        let first = self.passed.iter().find(is_over)?.member;
        let passed = self.passed.iter().filter(|passed| passed.member < first).cloned().collect();
        Some(Self { members: self.members.clone(), at: first, passed })
    }

    /// Of all that were passed over: what comes back by itself first, else what may pass, else the first.
    fn worth_waiting_for(&self) -> PassedOver {
        let by_itself =
            self.passed.iter().filter(|passed| passed.until.is_some()).min_by_key(|passed| passed.until);
        let may_pass = || self.passed.iter().find(|passed| may_pass(passed.fault));
        let found = by_itself.or_else(may_pass).or(self.passed.first());
        found.cloned().expect("somebody was passed over")
    }
}

/// Whether somebody else may know an answer where this one did not.
const fn may_be_another_with(fault: TurnFault) -> bool {
    match fault {
        TurnFault::Auth
        | TurnFault::UsageLimit
        | TurnFault::BadRequest
        | TurnFault::RateLimit
        | TurnFault::Overloaded
        | TurnFault::Network
        | TurnFault::Stalled
        | TurnFault::CutOff
        | TurnFault::Garbage => true,
        // What is too long or too dear for one is not made shorter by asking another.
        TurnFault::ContextOverflow | TurnFault::OverCap | TurnFault::Unscripted => false,
    }
}

const fn may_pass(fault: TurnFault) -> bool {
    match fault {
        TurnFault::RateLimit | TurnFault::Overloaded | TurnFault::Network => true,
        TurnFault::Auth
        | TurnFault::UsageLimit
        | TurnFault::BadRequest
        | TurnFault::Stalled
        | TurnFault::CutOff
        | TurnFault::Garbage
        | TurnFault::ContextOverflow
        | TurnFault::OverCap
        | TurnFault::Unscripted => false,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Roster;

    fn chain() -> Succession {
        let names = ["anthropic/claude-opus", "openai/gpt-sol", "ollama/small"];
        Succession::new(Roster::bundled().chain(names).unwrap()).unwrap()
    }

    fn asked(then: Then) -> Succession {
        match then {
            Then::Ask(next) => next,
            Then::Stop(passed) => panic!("stopped: {passed:?}"),
        }
    }

    #[test]
    fn the_next_is_asked_until_there_is_nobody_else() {
        let second = asked(chain().pass_over(TurnFault::Auth, None));
        assert_eq!(second.current().name, "openai/gpt-sol");
        let stored = serde_json::to_string(&second).unwrap();
        assert_eq!(serde_json::from_str::<Succession>(&stored).unwrap(), second);
        let third = asked(second.pass_over(TurnFault::UsageLimit, Some(Timestamp(50))));
        assert_eq!(third.current().name, "ollama/small");
        let limit = PassedOver { member: 1, fault: TurnFault::UsageLimit, until: Some(Timestamp(50)) };
        assert_eq!(third.pass_over(TurnFault::Network, None), Then::Stop(limit));
    }

    #[test]
    fn without_a_limit_that_comes_back_what_may_pass_is_told_else_the_first() {
        let passed = |faults: [TurnFault; 3]| {
            let second = asked(chain().pass_over(faults[0], None));
            let third = asked(second.pass_over(faults[1], None));
            match third.pass_over(faults[2], None) {
                Then::Stop(passed) => (passed.member, passed.fault),
                Then::Ask(_) => panic!("there is a fourth"),
            }
        };
        assert_eq!(
            passed([TurnFault::Auth, TurnFault::Network, TurnFault::Garbage]),
            (1, TurnFault::Network)
        );
        assert_eq!(
            passed([TurnFault::Auth, TurnFault::BadRequest, TurnFault::Garbage]),
            (0, TurnFault::Auth)
        );
    }

    #[test]
    fn another_is_no_help_against_our_own_cap() {
        assert!(matches!(chain().pass_over(TurnFault::OverCap, None), Then::Stop(_)));
        assert!(matches!(chain().pass_over(TurnFault::ContextOverflow, None), Then::Stop(_)));
    }

    #[test]
    fn whoever_was_passed_over_is_asked_again_when_the_limit_is_new() {
        let second = asked(chain().pass_over(TurnFault::UsageLimit, Some(Timestamp(50))));
        assert_eq!(second.again(Timestamp(49)), None);
        assert_eq!(second.again(Timestamp(50)).unwrap(), chain());
        let third = asked(second.pass_over(TurnFault::Auth, None));
        assert_eq!(third.again(Timestamp(60)).unwrap().current().name, "anthropic/claude-opus");
    }
}
