//! What a model answered, as a turn; and why it did not, as a fault.

use longhaul_core::cassette::{Order, Usage};
use longhaul_core::units::show_count;
use longhaul_events::Timestamp;
use longhaul_model::{End, Failure, Reply, WantedCall};
use serde_json::{Map, Value};

use crate::turn::{Call, Fault, Turn};

/// Calls of these change nothing, so it does not matter which of them ends first.
const ONLY_LOOK: [&str; 4] = ["read", "glob", "grep", "read_artifact"];
const REFUSED: &str = "(the model refuses to answer)";

pub(super) fn turn(reply: Reply, max_output: u64) -> Turn {
    let Reply { mut text, mut calls, mut echo, end, usage, model: _ } = reply;
    let mut aside = None;
    match end {
        End::Done | End::CallsWanted => {}
        End::MaxOutput => {
            let dropped = calls.pop();
            // What was kept unchanged ends in the call that is not there any more.
            echo = echo.filter(|_| dropped.is_none() || !calls.is_empty() || !text.is_empty());
            aside = Some(cut(dropped.as_ref(), max_output));
        }
        End::Refused => {
            calls.clear();
            echo = None;
            if text.trim().is_empty() {
                REFUSED.clone_into(&mut text);
            }
        }
    }
    let order = order(&calls);
    let usage = Usage { input: usage.input, output: usage.output };
    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
    // Some servers give every call the same name, or none.
    let is_named = |id: &str| !id.is_empty() && ids.iter().filter(|other| *other == id).count() == 1;
    let call = |call: WantedCall| {
        let id = Some(call.id).filter(|id| is_named(id));
        Call { tool: call.tool, arguments: call.arguments, expect_exit: None, id }
    };
    Turn { say: text, calls: calls.into_iter().map(call).collect(), order, usage, echo, aside }
}

fn order(calls: &[WantedCall]) -> Order {
    let only_look = calls.iter().all(|call| ONLY_LOOK.contains(&call.tool.as_str()));
    if only_look && calls.len() > 1 { Order::AtOnce } else { Order::OneByOne }
}

fn cut(dropped: Option<&WantedCall>, max_output: u64) -> String {
    let at = show_count(max_output);
    match dropped {
        Some(call) => format!(
            "Your answer was cut at {at} tokens, and its last call, to `{}`, was not made because it may not be whole. \
             Make it again in smaller pieces: write a long file in parts, or change it with several edits.",
            call.tool
        ),
        None => format!("Your answer was cut at {at} tokens. Say less, and go on with calls."),
    }
}

/// What to tell a model about arguments that are no JSON object, if they are not.
pub fn unreadable(arguments: &Map<String, Value>) -> Option<String> {
    // No schema of ours has such a name, so all others are spared the copy.
    if !arguments.keys().any(|name| name.starts_with('$')) {
        return None;
    }
    let (id, tool) = (String::new(), String::new());
    let call = WantedCall { id, tool, arguments: arguments.clone() };
    let found = call.unreadable()?;
    Some(format!(
        "the arguments are no JSON object, so the call was not made: {}. Make it again with valid JSON",
        found.problem
    ))
}

pub(super) fn fault(failure: Failure) -> Fault {
    match failure {
        Failure::Auth { message } => Fault::Auth { message },
        Failure::RateLimit { message, retry_after_ms } => Fault::RateLimit { message, retry_after_ms },
        Failure::UsageLimit { message, resets_at_ms } => {
            Fault::UsageLimit { message, resets_at: resets_at_ms.map(Timestamp) }
        }
        Failure::Overloaded { message, retry_after_ms } => Fault::Overloaded { message, retry_after_ms },
        Failure::ContextOverflow { message } => Fault::ContextOverflow { message },
        Failure::BadRequest { message } => Fault::BadRequest { message },
        Failure::Network { message } => Fault::Network { message },
        Failure::CutOff => Fault::CutOff,
        Failure::Stalled { ms } => Fault::Stalled { ms },
        Failure::Garbage { message } => Fault::Garbage { message },
        Failure::OverCap { message } => Fault::OverCap { message },
        Failure::Stopped => Fault::Stopped,
    }
}
