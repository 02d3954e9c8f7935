//! What a person is told when an agent does not get on.

use longhaul_core::conversation::{Stop, Stuck, Unexpected};
use longhaul_events::{Reason, TurnFault};

use crate::error::Error;

/// Why the step was given up, with what can be done about it.
pub(super) fn reason(stop: Stop) -> Reason {
    let go_on =
        "tell the agent something with `longhaul session steer`, or go back with `longhaul session rewind`";
    match stop {
        Stop::Stuck(Stuck::OnlyTalks) => {
            Reason::new("stuck", "the agent ends its turns without doing anything", go_on)
        }
        Stop::Stuck(Stuck::SameCall) => {
            Reason::new("stuck", "the agent makes the same call again and again", go_on)
        }
        Stop::NoAnswer(fault) => no_answer(fault),
        Stop::Unexpected(Unexpected { turn, call, expected, exit }) => {
            let exit = exit.map_or_else(|| "by force".to_owned(), |exit| format!("with {exit}"));
            Reason::new(
                "cassette",
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
    Reason::new("could_not", message, format!("{fix}, then go back with `longhaul session rewind`"))
}

fn no_answer(fault: TurnFault) -> Reason {
    let (code, message, fix) = match fault {
        TurnFault::Auth => {
            ("auth", "the provider does not accept the key", "set a key that it accepts, then rewind")
        }
        TurnFault::UsageLimit => {
            ("usage_limit", "the usage limit is reached", "wait until it is reset, then rewind")
        }
        TurnFault::RateLimit | TurnFault::Overloaded => {
            ("no_answer", "the provider has no room for us", "try again later: rewind to this step")
        }
        TurnFault::Stalled | TurnFault::CutOff | TurnFault::Garbage => {
            ("no_answer", "no usable answer came from the agent", "see whether it works at all, then rewind")
        }
        TurnFault::Unscripted => {
            ("cassette", "the cassette has no turn for this step", "add one and start again")
        }
    };
    Reason::new(code, message, fix)
}
