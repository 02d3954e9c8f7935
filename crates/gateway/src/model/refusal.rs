//! Refusals in the words of the provider, so that an agent takes them for what they are. A cap is answered as an error that
//! lasts: whatever may pass is asked again and again.

use hyper::{Response, StatusCode};
use serde_json::json;

use crate::body::{Body, json as as_json};
use crate::meter::Refused;
use crate::upstream::Protocol;

/// What a provider calls an error.
struct Kind {
    status: StatusCode,
    anthropic: &'static str,
    open_ai: &'static str,
    code: &'static str,
}

pub(super) fn over_cap(protocol: Protocol, refused: &Refused) -> Response<Body> {
    let kind = Kind {
        status: StatusCode::FORBIDDEN,
        anthropic: "permission_error",
        open_ai: "insufficient_quota",
        code: "longhaul_cap",
    };
    said(protocol, &kind, &format!("longhaul's cap `{}` is reached: {}", refused.cap, refused.words))
}

pub(super) fn unknown_token(protocol: Protocol) -> Response<Body> {
    let kind = Kind {
        status: StatusCode::UNAUTHORIZED,
        anthropic: "authentication_error",
        open_ai: "invalid_request_error",
        code: "invalid_api_key",
    };
    said(protocol, &kind, "this gateway is for one session; show its token as the key")
}

pub(super) fn not_offered(protocol: Protocol) -> Response<Body> {
    let kind = Kind {
        status: StatusCode::NOT_FOUND,
        anthropic: "not_found_error",
        open_ai: "invalid_request_error",
        code: "not_offered",
    };
    said(
        protocol,
        &kind,
        "only models can be asked through this gateway; nothing else of the provider is offered",
    )
}

/// This may pass.
pub(super) fn unreachable(protocol: Protocol, provider: &str, problem: &str) -> Response<Body> {
    let kind = Kind {
        status: StatusCode::BAD_GATEWAY,
        anthropic: "api_error",
        open_ai: "server_error",
        code: "unreachable",
    };
    said(protocol, &kind, &format!("`{provider}` cannot be reached: {problem}"))
}

fn said(protocol: Protocol, kind: &Kind, message: &str) -> Response<Body> {
    let body = match protocol {
        Protocol::Anthropic => {
            json!({ "type": "error", "error": { "type": kind.anthropic, "message": message } })
        }
        Protocol::OpenAi => {
            json!({ "error": { "message": message, "type": kind.open_ai, "param": null, "code": kind.code } })
        }
    };
    as_json(kind.status, &body)
}
