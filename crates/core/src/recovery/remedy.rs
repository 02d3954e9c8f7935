//! What helps a session that stopped where it stands, by the reason of its stop, and what the next attempt is told.

use crate::parking::ParkCode;

/// What helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Somebody who decides, or gives it what it lacks. It waits for that where it is.
    Somebody,
    /// Going on where it was, some time later.
    Later,
    /// Another attempt, which is told more.
    Again(Advice),
    /// Another attempt would come to the same.
    Nothing,
}

/// What else the next attempt is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    AnotherWay,
    OtherParts,
    NotReady,
    InASnapshot,
}

impl Advice {
    pub const fn words(self) -> &'static str {
        match self {
            Self::AnotherWay => {
                "Take another way than the obvious one, in small steps, and look at what each of them does."
            }
            Self::OtherParts => "Divide the work otherwise, so that each part can come to its end.",
            Self::NotReady => "Its files were not made ready; see whether they are before you rely on them.",
            Self::InASnapshot => {
                "What it had done is in a snapshot, and not in your files: begin from what is there."
            }
        }
    }
}

impl Remedy {
    /// As the guide has it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Somebody => "somebody",
            Self::Later => "later",
            Self::Again(_) => "again",
            Self::Nothing => "nothing",
        }
    }

    pub const fn of(code: ParkCode) -> Self {
        match code {
            ParkCode::BudgetTokens
            | ParkCode::BudgetTime
            | ParkCode::BudgetMoney
            | ParkCode::BudgetTurns
            | ParkCode::BudgetTaskMoney
            | ParkCode::BudgetDayMoney
            | ParkCode::UsageLimit
            | ParkCode::LoopAtItsBound
            | ParkCode::AttemptsUsedUp
            | ParkCode::NotPassed
            | ParkCode::NothingGathered
            | ParkCode::NotConfirmed
            | ParkCode::OutcomeUnknown
            | ParkCode::VarRequired
            | ParkCode::ListExpected
            | ParkCode::ListTooLong
            | ParkCode::NumberExpected
            | ParkCode::ItemsHaveNoParts
            | ParkCode::PromptTooLarge
            | ParkCode::TooMuchToLookAt
            | ParkCode::UnknownStep
            | ParkCode::ChildRefused
            | ParkCode::ReviewRequired
            | ParkCode::DeliveryRefused
            | ParkCode::DeliveryStale => Self::Somebody,
            ParkCode::NoAnswer => Self::Later,
            ParkCode::ChildFailed => Self::Again(Advice::OtherParts),
            ParkCode::SetupFailed => Self::Again(Advice::NotReady),
            ParkCode::Stuck => Self::Again(Advice::AnotherWay),
            ParkCode::CheckoutGone => Self::Again(Advice::InASnapshot),
            ParkCode::NoSuchWorkflow
            | ParkCode::NoSandbox
            | ParkCode::NoAgent
            | ParkCode::Auth
            | ParkCode::SetupCouldNotRun
            | ParkCode::DeliveryCouldNot
            | ParkCode::Cassette => Self::Nothing,
        }
    }
}

/// What a hint may say of why the attempt before ended, at most.
const LONGEST_BECAUSE: usize = 500;

/// What the next attempt is told. The because may hold words of others, so it is one line of bounded length.
pub(super) fn hint(because: &str, advice: Option<Advice>) -> String {
    let line = because.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|letter| !letter.is_control()).take(LONGEST_BECAUSE).collect();
    let told = format!("The attempt before this one ended because: {}.", line.trim_end_matches('.'));
    advice.map_or(told.clone(), |advice| format!("{told} {}", advice.words()))
}
