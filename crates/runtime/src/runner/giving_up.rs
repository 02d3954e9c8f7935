//! What a person is told when an agent does not get on.

use longhaul_agent::tools::{CANNOT_ENTER, CANNOT_RUN};
use longhaul_core::conversation::{Stop, Stuck, Unexpected};
use longhaul_core::parking::ParkCode;
use longhaul_core::time::rfc3339;
use longhaul_events::{Reason, SessionId, TurnFault, Waits};

use crate::error::{DrivenError, Error};

/// Why the step was given up, with what can be done about it.
pub(super) fn reason(id: SessionId, stop: Stop) -> Reason {
    let go_on = format!("tell the agent something with `longhaul session steer {id} TEXT`, or {}", back(id));
    match stop {
        Stop::Stuck(Stuck::OnlyTalks) => {
            let go_on = format!(
                "{go_on}; an agent of yours that hands in by ending its turn is added with `longhaul agent add --hands-in-by-ending`"
            );
            ParkCode::Stuck.reason("the agent ends its turns without doing anything", go_on)
        }
        Stop::Stuck(Stuck::SameCall) => {
            ParkCode::Stuck.reason("the agent makes the same call again and again", go_on)
        }
        Stop::NoAnswer(fault) => no_answer(id, Absentee { whom: None, fault, said: None, waits: None }),
        Stop::Unexpected(Unexpected { turn, call, expected, exit }) => {
            let exit = exit.map_or_else(|| "by force".to_owned(), |exit| format!("with {exit}"));
            ParkCode::Cassette.reason(
                format!(
                    "command {} of turn {turn} ended {exit}, and the cassette expects {expected}",
                    call + 1
                ),
                "put the cassette or the checkout right and start again",
            )
        }
    }
}

fn back(id: SessionId) -> String {
    format!("go back to the step with `longhaul session rewind {id} --to STEP --reason TEXT`")
}

/// Why nothing is run for a session whose walls cannot be put up.
pub(super) fn without_walls(id: SessionId, error: &Error) -> Reason {
    let text = error.to_string();
    let (message, fix) = text.split_once("; ").unwrap_or((&text, "put that right"));
    ParkCode::NoSandbox.reason(message, format!("{fix}, then {}", back(id)))
}

/// What the world did not let us do; `None` for what may go away by itself.
pub(super) fn could_not(id: SessionId, error: &Error) -> Option<Reason> {
    let back = back(id);
    let restore =
        format!("bring the files back with `longhaul worktree restore --worktree {id}`, then {back}");
    let again = format!("see what is wrong, then {back}, or run it again");
    let walls = format!("`longhaul sandbox check --explain` says what is missing here; then {back}");
    let enter = format!("give the permissions back with `chmod u+rwx`, then {back}");
    let (code, fix) = if let Error::BadStart(reasons) = error {
        // Whoever tries again is refused again: who may be below a session changes with its workflow or its walls.
        let fix = reasons.first().map_or(again, |reason| format!("{}, then {back}", reason.fix));
        (ParkCode::ChildRefused, fix)
    } else if matches!(error, Error::Tool(broken) if broken.what == CANNOT_RUN) {
        (ParkCode::NoSandbox, walls)
    } else if matches!(error, Error::Tool(broken) if broken.what == CANNOT_ENTER) {
        (ParkCode::CheckoutGone, enter)
    } else if is_about_files(error) {
        (ParkCode::CheckoutGone, restore)
    } else if matches!(
        error,
        Error::Cassette(_)
            | Error::Budget(_)
            | Error::Driven(DrivenError::Hiring(_))
            | Error::NoKey { .. }
            | Error::Roster(_)
    ) {
        (ParkCode::NoAgent, again)
    } else {
        return None;
    };
    Some(code.reason(error.to_string(), fix))
}

/// Whether the files of the session are not what they were made as.
const fn is_about_files(error: &Error) -> bool {
    matches!(
        error,
        Error::Tool(_)
            | Error::Driven(DrivenError::NoCheckout(_))
            | Error::Git(longhaul_git::Error::NotOurCheckout { .. } | longhaul_git::Error::Trap { .. })
    )
}

/// Somebody who was asked and did not answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Absentee<'a> {
    /// Its name, if it has one that people gave it.
    pub(super) whom: Option<&'a str>,
    pub(super) fault: TurnFault,
    /// What is on record of it.
    pub(super) said: Option<&'a str>,
    /// What comes back by itself.
    pub(super) waits: Option<&'a Waits>,
}

/// Why nobody answers, and what can be done about it.
pub(super) fn no_answer(id: SessionId, absentee: Absentee<'_>) -> Reason {
    let Absentee { whom, fault, said, waits } = absentee;
    let resume = format!("`longhaul session resume {id} --budget same`");
    let again = |first: &str| format!("{first} {resume}");
    let check = whom.map_or_else(String::new, |whom| format!(" (`longhaul agent check {whom}` tells how)"));
    let (code, message, fix) = match fault {
        TurnFault::Auth => (
            ParkCode::Auth,
            "the provider does not accept the key".to_owned(),
            again(&format!("set a key that it accepts{check}, then")),
        ),
        TurnFault::UsageLimit => return used_up(id, waits),
        TurnFault::RateLimit | TurnFault::Overloaded => {
            (ParkCode::NoAnswer, "the provider has no room for us".to_owned(), again("try again later:"))
        }
        TurnFault::Network => (
            ParkCode::NoAnswer,
            "the provider cannot be reached".to_owned(),
            again(&format!("see to it that it can be{check}, then")),
        ),
        TurnFault::Stalled | TurnFault::CutOff | TurnFault::Garbage => (
            ParkCode::NoAnswer,
            "no usable answer came from the agent".to_owned(),
            again("see whether it works at all, then"),
        ),
        TurnFault::ContextOverflow => (
            ParkCode::NoAnswer,
            "the conversation is longer than the model has room for".to_owned(),
            format!("take a model with a larger window, or {}", back(id)),
        ),
        TurnFault::BadRequest => (
            ParkCode::NoAnswer,
            "the provider does not take what it is asked".to_owned(),
            again(&format!("put the agent's settings right{check}, then")),
        ),
        TurnFault::OverCap => (
            ParkCode::BudgetTokens,
            "the answer was cut, because it would have gone over the budget".to_owned(),
            format!("give it more: `longhaul session resume {id} --budget tokens=…`"),
        ),
        TurnFault::Unscripted => (
            ParkCode::Cassette,
            "the cassette has no turn for this step".to_owned(),
            "add one and start again".to_owned(),
        ),
    };
    let message =
        words_of(fault, said).map_or_else(|| message.clone(), |words| format!("{message}: {words}"));
    let message = whom.map_or_else(|| message.clone(), |whom| format!("`{whom}`: {message}"));
    code.reason(message, fix)
}

/// What whoever was asked said itself, where that tells more than our own words for it.
fn words_of(fault: TurnFault, said: Option<&str>) -> Option<&str> {
    let theirs = || said?.split_once(": ").map(|(_, words)| words.trim()).filter(|words| !words.is_empty());
    match fault {
        TurnFault::Auth
        | TurnFault::RateLimit
        | TurnFault::Overloaded
        | TurnFault::Network
        | TurnFault::Garbage
        | TurnFault::ContextOverflow
        | TurnFault::BadRequest => theirs(),
        TurnFault::UsageLimit
        | TurnFault::Stalled
        | TurnFault::CutOff
        | TurnFault::OverCap
        | TurnFault::Unscripted => None,
    }
}

fn used_up(id: SessionId, waits: Option<&Waits>) -> Reason {
    let Some(Waits { on, until, wake_at }) = waits else {
        let fix = format!("wait until it is reset, then `longhaul session resume {id} --budget same`");
        return ParkCode::UsageLimit.reason("the usage limit is reached", fix);
    };
    let fix = format!(
        "nothing: it goes on by itself from {} on, when somebody follows it or says `longhaul session resume {id}`; `longhaul session resume {id} --budget same` asks again now",
        rfc3339(*wake_at)
    );
    ParkCode::UsageLimit.reason(format!("the limit of `{on}` is used up until {}", rfc3339(*until)), fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_below_that_may_not_be_opened_is_told_with_what_helps() {
        let id: SessionId = "s-0123456789abc".parse().unwrap();
        let refused = ParkCode::ChildRefused.reason("without walls", "run it behind walls");
        let told = could_not(id, &Error::BadStart(vec![refused])).unwrap();
        assert_eq!(told.code, ParkCode::ChildRefused.code());
        assert!(told.message.contains("without walls"), "{told:?}");
        assert!(told.fix.starts_with("run it behind walls, then go back to the step"), "{told:?}");
    }
}
