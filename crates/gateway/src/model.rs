//! The model endpoint: an agent shows the token of its session, and the provider sees the real key. What is used is
//! counted on the way, and what is too much is refused or cut.

mod bill;
mod counted;
mod refusal;
mod usage;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hyper::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;

use crate::body::{Body, collected, text, whole};
use crate::headers::{strip_answer, strip_hop, strip_identity};
use crate::meter::{Estimate, Meter};
use crate::proxy;
use crate::token::Token;
use crate::upstream::{Protocol, Upstream, Upstreams};
use bill::Bill;
use counted::Counted;
use usage::Count;

/// A request with all its history and pictures, at most.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// How long a request may take to arrive.
const BODY_PATIENCE: Duration = Duration::from_mins(2);

/// The providers that a session may ask.
pub(crate) struct Models {
    upstreams: Upstreams,
    meter: Arc<dyn Meter>,
    token: Token,
    requests: AtomicU64,
}

/// A request that may be made.
struct Ask<'a> {
    provider: &'a str,
    upstream: &'a Upstream,
    path: String,
}

impl Models {
    pub(crate) fn new(upstreams: Upstreams, meter: Arc<dyn Meter>, token: Token) -> Self {
        Self { upstreams, meter, token, requests: AtomicU64::new(0) }
    }

    /// Answers a request whose path names the provider after so many bytes.
    pub(crate) async fn answer(&self, request: Request<Body>, prefix: usize) -> Response<Body> {
        let (head, body) = request.into_parts();
        let path = head.uri.path()[prefix..].to_owned();
        let (provider, rest) = path.split_once('/').unwrap_or((&path, ""));
        let Some(upstream) = self.upstreams.get(provider) else {
            let known: Vec<String> = self.upstreams.keys().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return text(
                StatusCode::NOT_FOUND,
                format!("this session has no such provider; there are: {known}\n"),
            );
        };
        if !self.token.is_shown(&head.headers) {
            return refusal::unknown_token(upstream.protocol);
        }
        if !is_offered(upstream.protocol, &head.method, rest) {
            return refusal::not_offered(upstream.protocol);
        }
        let body = match tokio::time::timeout(BODY_PATIENCE, collected(body, MOST_BYTES)).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => return text(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long\n"),
            Err(_) => return text(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time\n"),
        };
        let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let ask = Ask { provider, upstream, path: format!("{}{query}", upstream.path_of(rest)) };
        self.ask(&ask, head, body).await
    }

    async fn ask(&self, ask: &Ask<'_>, head: Parts, body: Bytes) -> Response<Body> {
        let estimate = self.estimate(ask.provider, &body);
        let mut bill = None;
        if is_paid(&head) {
            if let Err(refused) = self.meter.admit(&estimate) {
                return refusal::over_cap(ask.upstream.protocol, &refused);
            }
            bill = Some(Bill::new(estimate.clone(), self.meter.clone()));
        }
        let request = match outward(ask, head, body) {
            Ok(request) => request,
            Err(error) => {
                return text(StatusCode::BAD_REQUEST, format!("the request cannot be handed on: {error}\n"));
            }
        };
        let unreachable = |problem: &str| refusal::unreachable(ask.upstream.protocol, ask.provider, problem);
        let stream = match ask.upstream.connect().await {
            Ok(stream) => stream,
            Err(error) => return unreachable(&error.to_string()),
        };
        bill.iter_mut().for_each(Bill::is_sent);
        match proxy::send(stream, request).await {
            Ok(response) => counted(ask, estimate, bill, response),
            Err(error) => unreachable(&error.to_string()),
        }
    }

    fn estimate(&self, provider: &str, body: &[u8]) -> Estimate {
        let asked = Asked::of(body);
        Estimate {
            request: self.requests.fetch_add(1, Ordering::Relaxed),
            provider: provider.to_owned(),
            max_output_tokens: asked.most_output(),
            model: asked.model.and_then(|model| model.as_str().map(str::to_owned)),
            input_bytes: u64::try_from(body.len()).unwrap_or(u64::MAX),
        }
    }
}

/// Whether it asks a model. To have tokens counted or models listed costs nothing.
fn is_paid(head: &Parts) -> bool {
    head.method == Method::POST && !head.uri.path().ends_with("/count_tokens")
}

/// The answer, counted while it goes through.
fn counted(
    ask: &Ask<'_>,
    estimate: Estimate,
    bill: Option<Bill>,
    response: Response<Body>,
) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    strip_hop(&mut head.headers);
    strip_answer(&mut head.headers);
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let count = Count::new(ask.upstream.protocol, estimate, &head.headers);
    let seen = counted::Head { status: head.status, retry_after };
    Response::from_parts(head, Counted::new(body, count, bill, seen).boxed_unsync())
}

/// What a request says of what it costs. All the rest of it, which is nearly all, is passed over.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Asked {
    model: Option<Value>,
    max_tokens: Option<Value>,
    max_completion_tokens: Option<Value>,
    max_output_tokens: Option<Value>,
    n: Option<Value>,
}

impl Asked {
    /// Whoever says something twice, or nothing that can be read, has said nothing: then the most counts.
    fn of(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    /// How much may come back. A provider heeds one of these limits and may ignore the others, and answers `n` times.
    fn most_output(&self) -> Option<u64> {
        let number = |value: &Option<Value>| value.as_ref().and_then(Value::as_u64);
        let limits = [&self.max_tokens, &self.max_completion_tokens, &self.max_output_tokens];
        let largest = limits.into_iter().filter_map(number).max()?;
        Some(largest.saturating_mul(number(&self.n).unwrap_or(1).max(1)))
    }
}

/// The request as the provider gets it: nothing of the session's in it but what it asks.
fn outward(ask: &Ask<'_>, mut head: Parts, body: Bytes) -> Result<Request<Body>, hyper::http::Error> {
    strip_hop(&mut head.headers);
    strip_identity(&mut head.headers);
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(HOST, HeaderValue::from_str(ask.upstream.authority())?);
    // What is compressed cannot be counted.
    head.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let (name, value) = ask.upstream.key.clone();
    head.headers.insert(name, value);
    head.uri = ask.path.parse()?;
    head.extensions.clear();
    Ok(Request::from_parts(head, whole(body)))
}

/// Only what asks a model. The same key opens files, batches and accounts, and nobody counts those.
fn is_offered(protocol: Protocol, method: &Method, rest: &str) -> bool {
    let rest = rest.strip_prefix("v1/").unwrap_or(rest);
    if method == Method::GET {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        let is_id = |id: &str| !id.is_empty() && !id.contains("..") && id.bytes().all(is_letter);
        return rest == "models" || rest.strip_prefix("models/").is_some_and(is_id);
    }
    let offered: &[&str] = match protocol {
        Protocol::Anthropic => &["messages", "messages/count_tokens"],
        Protocol::OpenAi => &["chat/completions", "responses"],
    };
    method == Method::POST && offered.contains(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_may_cost_is_read_from_it_and_never_twice() {
        let asked = |text: &str| {
            let asked = Asked::of(text.as_bytes());
            (asked.most_output(), asked.model.and_then(|model| model.as_str().map(str::to_owned)))
        };
        let model = Some("m".to_owned());
        assert_eq!(asked(r#"{"model":"m","messages":[{"n":9}],"max_tokens":50}"#), (Some(50), model.clone()));
        assert_eq!(
            asked(r#"{"model":"m","max_tokens":5,"max_output_tokens":7,"n":3}"#),
            (Some(21), model.clone())
        );
        assert_eq!(asked(r#"{"model":"m","max_tokens":"many"}"#), (None, model));
        for unclear in [r#"{"model":"m","max_tokens":5,"max_tokens":50}"#, r#"{"model":"m""#, "[1]"] {
            assert_eq!(asked(unclear), (None, None), "{unclear}");
        }
    }

    #[test]
    fn only_asking_a_model_is_offered() {
        let post = |rest| is_offered(Protocol::Anthropic, &Method::POST, rest);
        assert!(post("v1/messages") && post("messages") && post("v1/messages/count_tokens"));
        for rest in [
            "v1/messages/batches",
            "v1/files",
            "v1/../v1/messages",
            "v1//messages",
            "v1/messages%00",
            "",
            "v1/organizations/users",
        ] {
            assert!(!post(rest), "{rest}");
        }
        let get = |rest| is_offered(Protocol::OpenAi, &Method::GET, rest);
        assert!(get("v1/models") && get("models/gpt-5.1"));
        assert!(
            !get("models/../files") && !get("models/a/b") && !get("chat/completions") && !get("models/..")
        );
        assert!(!is_offered(Protocol::OpenAi, &Method::DELETE, "models/gpt-5.1"));
    }
}
