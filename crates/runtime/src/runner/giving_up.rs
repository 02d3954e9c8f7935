//! What a person is told when an agent does not get on.

use longhaul_agent::tools::CANNOT_RUN;
use longhaul_core::conversation::{Stop, Stuck, Unexpected};
use longhaul_core::parking::ParkCode;
use longhaul_events::{Reason, TurnFault};

use crate::error::{DrivenError, Error};

/// Why the step was given up, with what can be done about it.
pub(super) fn reason(stop: Stop) -> Reason {
    let go_on =
        "tell the agent something with `longhaul session steer`, or go back with `longhaul session rewind`";
    match stop {
        Stop::Stuck(Stuck::OnlyTalks) => {
            ParkCode::Stuck.reason("the agent ends its turns without doing anything", go_on)
        }
        Stop::Stuck(Stuck::SameCall) => {
            ParkCode::Stuck.reason("the agent makes the same call again and again", go_on)
        }
        Stop::NoAnswer(fault) => no_answer(fault),
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

/// Why nothing is run for a session whose walls cannot be put up.
pub(super) fn without_walls(error: &Error) -> Reason {
    let text = error.to_string();
    let (message, fix) = text.split_once("; ").unwrap_or((&text, "put that right"));
    ParkCode::NoSandbox.reason(message, format!("{fix}, then go back with `longhaul session rewind`"))
}

/// What the world did not let us do; `None` for what may go away by itself.
pub(super) fn could_not(error: &Error) -> Option<Reason> {
    let restore = "bring the files back with `longhaul worktree restore`, then go back to the step with `longhaul session rewind`";
    let again = "see what is wrong, then go back to the step with `longhaul session rewind`, or run it again";
    let walls = "`longhaul sandbox check --explain` says what is missing here; then go back to the step with `longhaul session rewind`";
    let (code, fix) = if matches!(error, Error::Tool(broken) if broken.what == CANNOT_RUN) {
        (ParkCode::NoSandbox, walls)
    } else if is_about_files(error) {
        (ParkCode::CheckoutGone, restore)
    } else if matches!(error, Error::Cassette(_) | Error::Budget(_)) {
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

fn no_answer(fault: TurnFault) -> Reason {
    let (code, message, fix) = match fault {
        TurnFault::Auth => (
            ParkCode::Auth,
            "the provider does not accept the key",
            "set a key that it accepts, then `longhaul session resume ID --budget same`",
        ),
        TurnFault::UsageLimit => (
            ParkCode::UsageLimit,
            "the usage limit is reached",
            "wait until it is reset, then `longhaul session resume ID --budget same`",
        ),
        TurnFault::RateLimit | TurnFault::Overloaded => (
            ParkCode::NoAnswer,
            "the provider has no room for us",
            "try again later: `longhaul session resume ID --budget same`",
        ),
        TurnFault::Stalled | TurnFault::CutOff | TurnFault::Garbage => (
            ParkCode::NoAnswer,
            "no usable answer came from the agent",
            "see whether it works at all, then `longhaul session resume ID --budget same`",
        ),
        TurnFault::Unscripted => {
            (ParkCode::Cassette, "the cassette has no turn for this step", "add one and start again")
        }
    };
    code.reason(message, fix)
}
