//! Why there is no answer. Each has its own remedy, so each is its own case.

mod said;
mod when;

use hyper::header::HeaderMap;
use serde_json::Value;

use said::Said;

/// Waits that are longer are no pause between two requests any more: a session is better put away until then.
const LONG_WAIT_MS: u64 = 15 * 60 * 1000;

/// Why a request has no answer. Nothing was tried again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("the provider does not accept the key: {message}")]
    Auth { message: String },
    #[error("too many requests; try again later: {message}")]
    RateLimit { message: String, retry_after_ms: Option<u64> },
    /// What was paid for is used up, for a while or until more is paid.
    #[error("the usage limit is reached: {message}")]
    UsageLimit { message: String, resets_at_ms: Option<i64> },
    /// Or it has trouble of its own that passes.
    #[error("the provider is overloaded; try again later: {message}")]
    Overloaded { message: String, retry_after_ms: Option<u64> },
    #[error("the conversation is longer than the model has room for: {message}")]
    ContextOverflow { message: String },
    /// Asked again it would be refused again.
    #[error("the provider does not take the request: {message}")]
    BadRequest { message: String },
    #[error("the provider was not reached: {message}")]
    Network { message: String },
    #[error("the answer broke off")]
    CutOff,
    #[error("nothing came for {ms} ms")]
    Stalled { ms: u64 },
    #[error("what came is no answer: {message}")]
    Garbage { message: String },
    /// The session's own cap.
    #[error("{message}")]
    OverCap { message: String },
    /// Nobody wants the answer any more.
    #[error("the request was called off")]
    Stopped,
}

impl Failure {
    pub(crate) fn garbage(message: &str) -> Self {
        Self::Garbage { message: message.to_owned() }
    }

    pub(crate) fn network(error: &dyn std::fmt::Display) -> Self {
        Self::Network { message: error.to_string() }
    }

    /// An answer with the status of an error.
    pub(crate) fn of_answer(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        judge(Some(status), headers, &Said::read(body), when::now_ms())
    }

    /// An error in the place of an answer that had begun well.
    pub(crate) fn in_stream(event: &Value) -> Self {
        let said = Said::of(event);
        judge(said.status, &HeaderMap::new(), &said, when::now_ms())
    }
}

/// Which failure it is. The words of a provider count before its number: the numbers are used for too many things.
fn judge(status: Option<u16>, headers: &HeaderMap, said: &Said, now_ms: i64) -> Failure {
    let message = said.shown(status);
    if said.is_own_cap(status) {
        return Failure::OverCap { message };
    }
    if said.is_own_unreachable(status) {
        return Failure::Network { message };
    }
    if status != Some(429) && said.is_overflow(status) {
        return Failure::ContextOverflow { message };
    }
    let wait_ms = when::wait_ms(headers, said, now_ms);
    if said.is_used_up(status, wait_ms) || when::is_plan_used_up(headers) {
        return Failure::UsageLimit { message, resets_at_ms: when::resets_at_ms(headers, said, now_ms) };
    }
    if status == Some(401) || status == Some(403) || said.is_about_the_key() {
        return Failure::Auth { message };
    }
    if status == Some(429) || said.is_rate_limit() {
        return match wait_ms {
            Some(wait) if wait > LONG_WAIT_MS => {
                Failure::UsageLimit { message, resets_at_ms: Some(now_ms.saturating_add_unsigned(wait)) }
            }
            retry_after_ms => Failure::RateLimit { message, retry_after_ms },
        };
    }
    match status {
        // What stands between us and the provider.
        Some(408 | 502 | 504 | 520..=527) => Failure::Network { message },
        Some(500..) => Failure::Overloaded { message, retry_after_ms: wait_ms },
        Some(_) if !said.is_trouble() => Failure::BadRequest { message },
        None if said.is_about_the_request() => Failure::BadRequest { message },
        Some(_) | None => Failure::Overloaded { message, retry_after_ms: wait_ms },
    }
}

#[cfg(test)]
mod tests;
