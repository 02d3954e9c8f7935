//! What a person is told when an agent does not get on.

use longhaul_agent::tools::{CANNOT_ENTER, CANNOT_RUN};
use longhaul_core::conversation::{Stop, Stuck, Unexpected};
use longhaul_core::outcome::{CHECKOUT_GONE, NO_AGENT, NO_SANDBOX};
use longhaul_events::{Reason, SessionId, TurnFault};

use crate::error::{DrivenError, Error};

/// Why the step was given up, with what can be done about it.
pub(super) fn reason(id: SessionId, stop: Stop) -> Reason {
    let go_on = format!("tell the agent something with `longhaul session steer {id} TEXT`, or {}", back(id));
    match stop {
        Stop::Stuck(Stuck::OnlyTalks) => {
            Reason::new("stuck", "the agent ends its turns without doing anything", go_on)
        }
        Stop::Stuck(Stuck::SameCall) => {
            Reason::new("stuck", "the agent makes the same call again and again", go_on)
        }
        Stop::NoAnswer(fault) => no_answer(id, fault),
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

fn back(id: SessionId) -> String {
    format!("go back to the step with `longhaul session rewind {id} --to STEP --reason TEXT`")
}

/// Why nothing is run for a session whose walls cannot be put up.
pub(super) fn without_walls(id: SessionId, error: &Error) -> Reason {
    let text = error.to_string();
    let (message, fix) = text.split_once("; ").unwrap_or((&text, "put that right"));
    Reason::new(NO_SANDBOX, message, format!("{fix}, then {}", back(id)))
}

/// What the world did not let us do; `None` for what may go away by itself.
pub(super) fn could_not(id: SessionId, error: &Error) -> Option<Reason> {
    let back = back(id);
    let restore =
        format!("bring the files back with `longhaul worktree restore --worktree {id}`, then {back}");
    let again = format!("see what is wrong, then {back}, or run it again");
    let walls = format!("`longhaul sandbox check --explain` says what is missing here; then {back}");
    let enter = format!("give the permissions back with `chmod u+rwx`, then {back}");
    let (code, fix) = if matches!(error, Error::Tool(broken) if broken.what == CANNOT_RUN) {
        (NO_SANDBOX, walls)
    } else if matches!(error, Error::Tool(broken) if broken.what == CANNOT_ENTER) {
        (CHECKOUT_GONE, enter)
    } else if is_about_files(error) {
        (CHECKOUT_GONE, restore)
    } else if matches!(error, Error::Cassette(_) | Error::Budget(_)) {
        (NO_AGENT, again)
    } else {
        return None;
    };
    Some(Reason::new(code, error.to_string(), fix))
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

fn no_answer(id: SessionId, fault: TurnFault) -> Reason {
    let resume = format!("`longhaul session resume {id} --budget same`");
    let (code, message, fix) = match fault {
        TurnFault::Auth => (
            "auth",
            "the provider does not accept the key",
            format!("set a key that it accepts, then {resume}"),
        ),
        TurnFault::UsageLimit => {
            ("usage_limit", "the usage limit is reached", format!("wait until it is reset, then {resume}"))
        }
        TurnFault::RateLimit | TurnFault::Overloaded => {
            ("no_answer", "the provider has no room for us", format!("try again later: {resume}"))
        }
        TurnFault::Stalled | TurnFault::CutOff | TurnFault::Garbage => (
            "no_answer",
            "no usable answer came from the agent",
            format!("see whether it works at all, then {resume}"),
        ),
        TurnFault::Unscripted => {
            ("cassette", "the cassette has no turn for this step", "add one and start again".to_owned())
        }
    };
    Reason::new(code, message, fix)
}
