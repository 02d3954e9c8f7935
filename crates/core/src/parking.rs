//! Every reason for which a session stops where it stands, with the word for scripts and what it comes to.
//!
//! Who parks a session takes the code from here, so that nobody meets one that this table, the outcome and the guide do
//! not know.

use longhaul_events::Reason;

use crate::outcome::{Because, Outcome};

/// Declares the codes as one table, so that none can be in one list and not in another.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal => $comes_to:ident,)+) => {
        /// Why a session is parked.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ParkCode {
            $($(#[$doc])* $name,)+
        }

        impl ParkCode {
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The word for scripts. It is on record, so it never changes.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The outcome of a session that is parked for it.
            pub(crate) fn outcome(self, because: Because) -> Outcome {
                match self {
                    $(Self::$name => Outcome::$comes_to(because),)+
                }
            }
        }
    };
}

codes! {
    BudgetTokens = "budget_tokens" => Parked,
    BudgetTime = "budget_time" => Parked,
    BudgetMoney = "budget_money" => Parked,
    BudgetTurns = "budget_turns" => Parked,
    BudgetTaskMoney = "budget_task_money" => Parked,
    BudgetDayMoney = "budget_day_money" => Parked,
    /// The provider's own limit.
    UsageLimit = "usage_limit" => Parked,
    LoopAtItsBound = "loop_at_its_bound" => Parked,
    AttemptsUsedUp = "attempts_used_up" => Blocked,
    /// A step of the engine's own that says no, or could not be done.
    NotPassed = "not_passed" => Blocked,
    NothingGathered = "nothing_gathered" => Blocked,
    NotConfirmed = "not_confirmed" => Blocked,
    /// A step of the engine's own had begun when its runner died.
    OutcomeUnknown = "outcome_unknown" => Blocked,
    /// The way on after a gate or a step of the engine's own is barred, and nobody is there to answer again.
    VarRequired = "var_required" => Blocked,
    ListExpected = "list_expected" => Blocked,
    ListTooLong = "list_too_long" => Blocked,
    NumberExpected = "number_expected" => Blocked,
    ItemsHaveNoParts = "items_have_no_parts" => Blocked,
    PromptTooLarge = "prompt_too_large" => Blocked,
    TooMuchToLookAt = "too_much_to_look_at" => Blocked,
    UnknownStep = "unknown_step" => Blocked,
    /// A session below this one did not come to its end.
    ChildFailed = "child_failed" => Failed,
    /// A step leads to a workflow that was not there when the session started.
    NoSuchWorkflow = "no_such_workflow" => CouldNot,
    /// A session below this one may not be opened: too many, too deep, or not with these vars.
    ChildRefused = "child_refused" => Blocked,
    /// The walls that the step needs cannot be put up here.
    NoSandbox = "no_sandbox" => CouldNot,
    /// The files of the session are not there.
    CheckoutGone = "checkout_gone" => CouldNot,
    /// The agent cannot be started.
    NoAgent = "no_agent" => CouldNot,
    /// The provider does not accept the key.
    Auth = "auth" => CouldNot,
    /// A command that makes the checkout ready was not even begun.
    SetupCouldNotRun = "setup_could_not_run" => CouldNot,
    SetupFailed = "setup_failed" => Failed,
    Stuck = "stuck" => Failed,
    NoAnswer = "no_answer" => Failed,
    /// Somebody else's word is missing before a change may be merged.
    ReviewRequired = "review_required" => Parked,
    /// A change that is not delivered: nothing, a secret in it, a rule against it.
    DeliveryRefused = "delivery_refused" => Blocked,
    /// What was proven is not what would be merged.
    DeliveryStale = "delivery_stale" => Blocked,
    /// What a delivery needs is not to be had: a forge, an identity, a worktree.
    DeliveryCouldNot = "delivery_could_not" => CouldNot,
    /// What was done is not what the script says.
    Cassette = "cassette" => Failed,
}

impl ParkCode {
    /// `None` for one that only another release knows.
    pub fn of(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.code() == code)
    }

    pub fn reason(self, message: impl Into<String>, fix: impl Into<String>) -> Reason {
        Reason::new(self.code(), message, fix)
    }

    /// Whether it goes on once there are means again: a larger budget, a key, room at the provider.
    pub const fn is_lifted_by_means(self) -> bool {
        match self {
            Self::BudgetTokens
            | Self::BudgetTime
            | Self::BudgetMoney
            | Self::BudgetTurns
            | Self::BudgetTaskMoney
            | Self::BudgetDayMoney
            | Self::UsageLimit
            | Self::NoAnswer
            | Self::Auth => true,
            Self::LoopAtItsBound
            | Self::AttemptsUsedUp
            | Self::NotPassed
            | Self::NothingGathered
            | Self::NotConfirmed
            | Self::OutcomeUnknown
            | Self::VarRequired
            | Self::ListExpected
            | Self::ListTooLong
            | Self::NumberExpected
            | Self::ItemsHaveNoParts
            | Self::PromptTooLarge
            | Self::TooMuchToLookAt
            | Self::UnknownStep
            | Self::ChildFailed
            | Self::NoSuchWorkflow
            | Self::ChildRefused
            | Self::NoSandbox
            | Self::CheckoutGone
            | Self::NoAgent
            | Self::SetupCouldNotRun
            | Self::SetupFailed
            | Self::Stuck
            | Self::ReviewRequired
            | Self::DeliveryRefused
            | Self::DeliveryStale
            | Self::DeliveryCouldNot
            | Self::Cassette => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::outcome::GATE;

    const GUIDE: &str = include_str!("../../../docs/guide/run.md");

    /// The row of an outcome in the guide, and the codes in its last cell.
    fn told(word: &str) -> BTreeSet<&'static str> {
        let start = format!("| `{}` |", word.replace(' ', "_"));
        let row = GUIDE.lines().find(|line| line.starts_with(&start)).unwrap();
        let cell = row.trim_end_matches('|').rsplit('|').next().unwrap();
        cell.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_guide_names_every_code_with_what_it_comes_to_and_no_other() {
        let because = || Because { reason: String::new(), because: String::new() };
        for word in ["parked", "blocked", "could not", "failed"] {
            let is_so = |code: &&ParkCode| code.outcome(because()).word() == word;
            let mut known: BTreeSet<&str> =
                ParkCode::ALL.iter().filter(is_so).map(|code| code.code()).collect();
            known.extend((word == "parked").then_some(GATE));
            known.extend((word == "failed").then_some(crate::outcome::CLOSED));
            assert_eq!(told(word), known, "{word}");
        }
    }

    #[test]
    fn each_code_is_one_word_of_its_own() {
        for code in ParkCode::ALL {
            assert_eq!(ParkCode::of(code.code()), Some(*code));
        }
        assert_eq!(ParkCode::of("something_new"), None);
    }
}
