//! `POST /hooks/WORKSPACE/TRIGGER`: where strangers knock.
//!
//! Every request is bounded in size and time before anything of it is looked at; a sender that nobody knows learns nothing but
//! that it was not let in. What is acknowledged is on disk.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::{HeaderMap, Method};
use longhaul_runtime::intake::{Answer, Intake};
use longhaul_runtime::triggers::is_id;
use longhaul_runtime::types::Delivery;
use serde_json::json;
use tokio::sync::{Semaphore, oneshot};

use crate::connections::Connection;
use crate::reply::Reply;
use crate::server::Limits;

pub(crate) const PREFIX: &str = "/hooks/";

/// The name of a workspace is no longer.
const LONGEST_NAME: usize = 100;

#[derive(Debug, Clone)]
pub(crate) struct Hooks {
    pub(crate) intake: Arc<Intake>,
    pub(crate) limits: Limits,
    /// How many kilobytes of bodies may be in memory at once.
    pub(crate) room: Arc<Semaphore>,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    scope: String,
    trigger: String,
}

impl Hooks {
    pub(crate) async fn answer(
        &self,
        connection: &Connection,
        request: hyper::Request<Incoming>,
    ) -> Response {
        let answer = self.take(request).await;
        if !matches!(answer, Err(_) | Ok(Answer::Unsigned | Answer::Unknown)) {
            connection.let_in();
        }
        answer.map_or_else(|reply| reply, |answer| reply(&answer)).into_response()
    }

    async fn take(&self, request: hyper::Request<Incoming>) -> Result<Answer, Reply> {
        let refused = |status, words| Err(Reply::error(status, None, words));
        if request.method() != Method::POST {
            return refused(StatusCode::METHOD_NOT_ALLOWED, "requests to a trigger are sent with POST");
        }
        let Some(target) = target(request.uri().path()) else {
            return Ok(Answer::Unknown);
        };
        let (head, body) = request.into_parts();
        let declared = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
        if declared.is_some_and(|bytes: usize| bytes > self.limits.most_body_bytes) {
            return Ok(Answer::TooLarge);
        }
        // Whoever does not say how much there is may send the most.
        let kilobytes = declared.unwrap_or(self.limits.most_body_bytes).div_ceil(1024).max(1);
        let kilobytes = u32::try_from(kilobytes).unwrap_or(u32::MAX);
        let Ok(_room) = self.room.try_acquire_many(kilobytes) else { return Ok(Answer::Busy) };
        let limited = Limited::new(body, self.limits.most_body_bytes).collect();
        let body = match tokio::time::timeout(self.limits.body_patience, limited).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Ok(Answer::TooLarge),
            Ok(Err(_)) => {
                return refused(StatusCode::BAD_REQUEST, "the body of the request did not come whole");
            }
            Err(_) => return refused(StatusCode::REQUEST_TIMEOUT, "the body of the request took too long"),
        };
        Ok(self.judge(target, &head.headers, &body).await)
    }

    /// Judging takes its time for a large body, so it is not done where others are answered.
    async fn judge(&self, target: Target, headers: &HeaderMap, body: &Bytes) -> Answer {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let headers = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())));
        let delivery = Delivery { headers: headers.collect(), body: body.to_vec() };
        let (sender, receiver) = oneshot::channel();
        let intake = Arc::clone(&self.intake);
        let judged = tokio::task::spawn_blocking(move || {
            intake
                .receive(&target.scope, &target.trigger, &delivery, move |answer| drop(sender.send(answer)));
        });
        let failed = || Answer::Failed("the request could not be judged".to_owned());
        if judged.await.is_err() {
            return failed();
        }
        receiver.await.unwrap_or_else(|_| failed())
    }
}

/// Nothing is decoded, and nothing is taken for something else: a path is what it should be, byte by byte, or leads nowhere.
fn target(path: &str) -> Option<Target> {
    let (scope, trigger) = path.strip_prefix(PREFIX)?.split_once('/')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let is_scope = (1..=LONGEST_NAME).contains(&scope.len()) && scope.bytes().all(is_plain);
    (is_scope && is_id(trigger)).then(|| Target { scope: scope.to_owned(), trigger: trigger.to_owned() })
}

/// What a sender is told. What stood in its request is not told again.
fn reply(answer: &Answer) -> Reply {
    let outcome = |status, outcome: &str| Reply::Json(status, json!({"outcome": outcome}));
    let task = |outcome: &str, task: &dyn std::fmt::Display| {
        Reply::Json(StatusCode::ACCEPTED, json!({"outcome": outcome, "task": task.to_string()}))
    };
    match answer {
        Answer::Task(id) => task("task", id),
        Answer::Duplicate(id) => task("duplicate", id),
        Answer::NotWanted(_) => outcome(StatusCode::OK, "not_wanted"),
        Answer::Skipped(_) => outcome(StatusCode::OK, "skipped"),
        Answer::Refused(_) => outcome(StatusCode::UNPROCESSABLE_ENTITY, "refused"),
        Answer::Unsigned => {
            Reply::error(StatusCode::UNAUTHORIZED, None, "the request is not signed as it should be")
        }
        Answer::Unknown => Reply::error(StatusCode::NOT_FOUND, None, "there is no such trigger"),
        Answer::TooLarge => Reply::error(StatusCode::PAYLOAD_TOO_LARGE, None, "the request is too large"),
        Answer::Busy => {
            Reply::error(StatusCode::SERVICE_UNAVAILABLE, None, "too much comes at once; send it again")
        }
        Answer::Failed(_) => {
            Reply::error(StatusCode::SERVICE_UNAVAILABLE, None, "it could not be stored; send it again")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_leads_to_one_trigger_or_nowhere() {
        let found = target("/hooks/w-2k9f3m7q/nightly-audit").unwrap();
        assert_eq!((found.scope.as_str(), found.trigger.as_str()), ("w-2k9f3m7q", "nightly-audit"));
        for path in [
            "/hooks/shop/hook/",
            "/hooks//hook",
            "/hooks/shop//hook",
            "/hooks/shop",
            "/hooks/shop/../hook",
            "/hooks/../shop/hook",
            "/hooks/shop/%68ook",
            "/hooks/shop/hook%00",
            "/hooks/shop%2fhook",
            "/hooks/shop/hook;x",
            "/hooks/shop/Hook",
            "//hooks/shop/hook",
            "/hooks/shop/hook\\..",
            "/HOOKS/shop/hook",
        ] {
            assert_eq!(target(path), None, "{path}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_path_is_it_is_read_back_or_leads_nowhere(path in "(/hooks)?[/a-z0-9.%_\\-\\\\A-Z;?#]{0,40}") {
            if let Some(Target { scope, trigger }) = target(&path) {
                prop_assert_eq!(format!("/hooks/{scope}/{trigger}"), path);
            }
        }
    }
}
