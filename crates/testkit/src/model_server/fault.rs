//! Errors as each of the protocols writes them.

use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::Fault;
use super::asked::Protocol;
use super::http;
use super::protocol::Breach;

/// How often somebody who says nothing looks whether anybody is left to say it to.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// An error: its status, what each protocol calls it, and its words.
struct Refusal {
    status: &'static str,
    anthropic: &'static str,
    open_ai: &'static str,
    message: String,
}

/// The request is none that a model could answer.
pub(super) fn refuse(out: &TcpStream, protocol: Protocol, breach: &Breach) -> io::Result<()> {
    let refusal = match breach {
        Breach::NoKey => no_key(),
        Breach::Form(message) => bad(message.clone()),
    };
    http::respond(out, refusal.status, &[], &refusal.body(protocol))
}

/// What comes in the place of an answer.
pub(super) fn give(
    out: &TcpStream,
    protocol: Protocol,
    fault: &Fault,
    has_ended: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut headers = Vec::new();
    let refusal = match fault {
        Fault::RateLimit { retry_after } => {
            headers.extend(retry_after.clone().map(|after| ("retry-after", after)));
            Refusal {
                status: "429 Too Many Requests",
                anthropic: "rate_limit_error",
                open_ai: "rate_limit_exceeded",
                message: "This request would exceed your rate limit.".to_owned(),
            }
        }
        Fault::Overloaded { retry_after } => {
            headers.extend(retry_after.clone().map(|after| ("retry-after", after)));
            overloaded(protocol)
        }
        Fault::UsageLimit { resets_at_s } => {
            return used_up(out, protocol, *resets_at_s);
        }
        Fault::Auth => no_key(),
        Fault::ContextOverflow => Refusal {
            status: "400 Bad Request",
            anthropic: "invalid_request_error",
            open_ai: "context_length_exceeded",
            message: match protocol {
                Protocol::Messages => "prompt is too long: 210000 tokens > 200000 maximum".to_owned(),
                Protocol::Chat | Protocol::Responses => {
                    "This model's maximum context length is 128000 tokens.".to_owned()
                }
            },
        },
        Fault::BadRequest(message) => bad(message.clone()),
        Fault::Status(number) => {
            return http::page(out, &format!("{number} Oh"), &[], "text/html", "<html>Oh dear</html>");
        }
        Fault::Hang
        | Fault::HangAfter(_)
        | Fault::CutAfter(_)
        | Fault::ErrorAfter(_)
        | Fault::Garbage
        | Fault::Endless
        | Fault::OnlyPings => return hang(out, has_ended),
    };
    http::respond(out, refusal.status, &headers, &refusal.body(protocol))
}

/// Says nothing for as long as somebody waits for it.
pub(super) fn hang(mut out: &TcpStream, has_ended: &dyn Fn() -> bool) -> io::Result<()> {
    out.set_read_timeout(Some(LOOK_EVERY))?;
    let mut byte = [0];
    while !has_ended() {
        match out.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    Err(io::ErrorKind::ConnectionAborted.into())
}

/// The error that takes the place of the rest of a stream.
pub(super) fn event(protocol: Protocol) -> Value {
    let refusal = overloaded(protocol);
    match protocol {
        Protocol::Messages | Protocol::Chat => refusal.body(protocol),
        Protocol::Responses => {
            let error = json!({ "code": "server_is_overloaded", "message": refusal.message });
            let response =
                json!({ "id": "resp_0", "object": "response", "status": "failed", "error": error });
            json!({ "type": "response.failed", "response": response })
        }
    }
}

impl Refusal {
    fn body(&self, protocol: Protocol) -> Value {
        match protocol {
            Protocol::Messages => {
                let error = json!({ "type": self.anthropic, "message": self.message });
                json!({ "type": "error", "error": error, "request_id": "req_scripted" })
            }
            Protocol::Chat | Protocol::Responses => {
                let message = &self.message;
                json!({ "error": { "message": message, "type": self.open_ai, "param": null, "code": self.open_ai } })
            }
        }
    }
}

fn bad(message: String) -> Refusal {
    Refusal {
        status: "400 Bad Request",
        anthropic: "invalid_request_error",
        open_ai: "invalid_request_error",
        message,
    }
}

fn no_key() -> Refusal {
    Refusal {
        status: "401 Unauthorized",
        anthropic: "authentication_error",
        open_ai: "invalid_api_key",
        message: "the key is not known".to_owned(),
    }
}

fn overloaded(protocol: Protocol) -> Refusal {
    let status = match protocol {
        Protocol::Messages => "529 Overloaded",
        Protocol::Chat | Protocol::Responses => "503 Service Unavailable",
    };
    let message = "The servers are overloaded.".to_owned();
    Refusal { status, anthropic: "overloaded_error", open_ai: "server_error", message }
}

/// Each provider says in its own way until when: with a head, or in the error.
fn used_up(out: &TcpStream, protocol: Protocol, resets_at_s: Option<i64>) -> io::Result<()> {
    const STATUS: &str = "429 Too Many Requests";
    match protocol {
        Protocol::Messages => {
            let mut headers = vec![("anthropic-ratelimit-unified-status", "rejected".to_owned())];
            headers.extend(resets_at_s.map(|at| ("anthropic-ratelimit-unified-reset", at.to_string())));
            let error = json!({ "type": "rate_limit_error", "message": "This would exceed your account's rate limit." });
            http::respond(out, STATUS, &headers, &json!({ "type": "error", "error": error }))
        }
        Protocol::Chat | Protocol::Responses => {
            let mut error =
                json!({ "type": "usage_limit_reached", "message": "The usage limit has been reached" });
            if let Some(at) = resets_at_s {
                error["resets_at"] = at.into();
            }
            http::respond(out, STATUS, &[], &json!({ "error": error }))
        }
    }
}
