//! What providers answer, as they write it, and what it is.

use hyper::header::{HeaderMap, HeaderName};

use super::*;

/// 2026-11-16 12:00:00 UTC.
const NOW: i64 = 1_794_830_400_000;

fn judged(status: u16, headers: &[(&'static str, &str)], body: &str) -> Failure {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
    let said = Said::read(body.as_bytes());
    judge(Some(status), &headers, &said, NOW)
}

fn anthropic(kind: &str, message: &str) -> String {
    serde_json::json!({ "type": "error", "error": { "type": kind, "message": message } }).to_string()
}

fn open_ai(code: &str, message: &str) -> String {
    serde_json::json!({ "error": { "type": code, "code": code, "message": message } }).to_string()
}

fn name(failure: &Failure) -> &'static str {
    match failure {
        Failure::Auth { .. } => "auth",
        Failure::RateLimit { .. } => "rate limit",
        Failure::UsageLimit { .. } => "usage limit",
        Failure::Overloaded { .. } => "overloaded",
        Failure::ContextOverflow { .. } => "context overflow",
        Failure::BadRequest { .. } => "bad request",
        Failure::Network { .. } => "network",
        Failure::CutOff => "cut off",
        Failure::Stalled { .. } => "stalled",
        Failure::Garbage { .. } => "garbage",
        Failure::OverCap { .. } => "over cap",
        Failure::Stopped => "stopped",
    }
}

#[test]
fn every_status_and_word_of_a_provider_has_its_failure() {
    for (status, body, wanted) in [
        (401, anthropic("authentication_error", "invalid x-api-key"), "auth"),
        (403, anthropic("permission_error", "your key may not use this"), "auth"),
        (401, open_ai("invalid_api_key", "Incorrect API key provided"), "auth"),
        (429, anthropic("rate_limit_error", "This request would exceed your rate limit"), "rate limit"),
        (429, open_ai("rate_limit_exceeded", "Rate limit reached for gpt-5"), "rate limit"),
        (429, open_ai("insufficient_quota", "You exceeded your current quota"), "usage limit"),
        (429, r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}"#.to_owned(), "usage limit"),
        (400, anthropic("invalid_request_error", "Your credit balance is too low"), "usage limit"),
        (400, anthropic("invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."), "usage limit"),
        (402, r#"{"error":{"code":402,"message":"Insufficient credits"}}"#.to_owned(), "usage limit"),
        (529, anthropic("overloaded_error", "Overloaded"), "overloaded"),
        (503, open_ai("server_error", "The engine is currently overloaded"), "overloaded"),
        (500, anthropic("api_error", "Internal server error"), "overloaded"),
        (400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), "context overflow"),
        (400, anthropic("invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000"), "context overflow"),
        (413, anthropic("request_too_large", "Request exceeds the maximum size"), "context overflow"),
        (400, open_ai("context_length_exceeded", "This model's maximum context length is 128000 tokens"), "context overflow"),
        (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}"#.to_owned(), "context overflow"),
        (400, anthropic("invalid_request_error", "messages: roles must alternate"), "bad request"),
        (404, open_ai("model_not_found", "The model `gpt-9` does not exist"), "bad request"),
        (404, r#"{"error":"model 'llama9' not found"}"#.to_owned(), "bad request"),
        (422, r#"{"detail":"extra fields"}"#.to_owned(), "bad request"),
        (502, "<html>Bad gateway</html>".to_owned(), "network"),
        (524, String::new(), "network"),
        (403, anthropic("permission_error", "longhaul's cap `session.tokens` is reached: 400 tokens are left"), "over cap"),
        (403, open_ai("longhaul_cap", "longhaul's cap `session.tokens` is reached"), "over cap"),
        (502, anthropic("api_error", "`anthropic` cannot be reached: connection refused"), "network"),
        (502, open_ai("unreachable", "`openai` cannot be reached: connection refused"), "network"),
    ] {
        let failure = judged(status, &[], &body);
        assert_eq!(name(&failure), wanted, "{status} {body}: {failure:?}");
    }
}

#[test]
fn the_time_to_wait_is_found_wherever_it_is_said() {
    let limit = anthropic("rate_limit_error", "slow down");
    let in_words = open_ai("rate_limit_exceeded", "Please try again in 6m0s.");
    for (headers, body, wait_ms) in [
        (&[("retry-after", "7")][..], &limit, Some(7000)),
        (&[("retry-after", "1.5")], &limit, Some(1500)),
        (&[("retry-after", "Mon, 16 Nov 2026 12:01:00 GMT")], &limit, Some(60_000)),
        (&[("retry-after", "Mon, 16 Nov 2026 11:00:00 GMT")], &limit, Some(0)),
        (&[("retry-after-ms", "250"), ("retry-after", "1")], &limit, Some(250)),
        (&[], &in_words, Some(360_000)),
        (
            &[
                ("anthropic-ratelimit-requests-reset", "2026-11-16T12:05:00Z"),
                ("anthropic-ratelimit-requests-remaining", "12"),
                ("anthropic-ratelimit-input-tokens-reset", "2026-11-16T12:00:20Z"),
                ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ],
            &limit,
            Some(20_000),
        ),
        (
            &[("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "2m3s")],
            &limit,
            Some(123_000),
        ),
        (&[("retry-after", "when it suits")], &limit, None),
        (&[], &limit, None),
    ] {
        let failure = judged(429, headers, body);
        let Failure::RateLimit { retry_after_ms, .. } = failure else { panic!("{failure:?}") };
        assert_eq!(retry_after_ms, wait_ms, "{headers:?} {body}");
    }
    let failure = judged(529, &[("retry-after", "3")], &anthropic("overloaded_error", "Overloaded"));
    assert_eq!(failure, Failure::Overloaded { message: "Overloaded".to_owned(), retry_after_ms: Some(3000) });
}

#[test]
fn a_usage_limit_says_when_it_is_lifted_if_anybody_does() {
    let resets = |status, headers: &[(&'static str, &str)], body: &str| {
        let failure = judged(status, headers, body);
        let Failure::UsageLimit { resets_at_ms, .. } = failure else { panic!("{failure:?}") };
        resets_at_ms
    };
    let hour = NOW + 3_600_000;
    let used_up = |extra: &str| {
        format!(
            r#"{{"error":{{"type":"usage_limit_reached","message":"The usage limit has been reached"{extra}}}}}"#
        )
    };
    assert_eq!(resets(429, &[], &used_up(&format!(r#","resets_at":{}"#, hour / 1000))), Some(hour));
    assert_eq!(resets(429, &[], &used_up(r#","resets_in_seconds":3600"#)), Some(hour));
    assert_eq!(resets(429, &[("retry-after", "3600")], &used_up("")), Some(hour));
    assert_eq!(resets(429, &[], &used_up("")), None);
    assert_eq!(resets(429, &[], &open_ai("insufficient_quota", "You exceeded your current quota")), None);
    let of_plan = (hour / 1000).to_string();
    let rejected = [
        ("anthropic-ratelimit-unified-status", "rejected"),
        ("anthropic-ratelimit-unified-reset", of_plan.as_str()),
    ];
    assert_eq!(resets(429, &rejected, &anthropic("rate_limit_error", "exceeds your limit")), Some(hour));
    let month = anthropic(
        "invalid_request_error",
        "API usage limits. You will regain access on 2026-11-16 at 13:00 UTC.",
    );
    assert_eq!(resets(400, &[], &month), Some(hour));
    // A pause of an hour is no pause between two requests.
    assert_eq!(resets(429, &[("retry-after", "3600")], &anthropic("rate_limit_error", "slow")), Some(hour));
}

#[test]
fn an_error_in_a_stream_is_judged_by_its_words_alone() {
    for (event, wanted) in [
        (anthropic("overloaded_error", "Overloaded"), "overloaded"),
        (anthropic("rate_limit_error", "slow"), "rate limit"),
        (anthropic("invalid_request_error", "prompt is too long"), "context overflow"),
        (anthropic("invalid_request_error", "no"), "bad request"),
        (anthropic("api_error", "oh"), "overloaded"),
        (r#"{"error":{"code":429,"message":"slow"}}"#.to_owned(), "rate limit"),
        (r#"{"error":{"code":502,"message":"provider went away"}}"#.to_owned(), "network"),
        (
            r#"{"type":"error","code":"rate_limit_exceeded","message":"Please try again in 3s"}"#.to_owned(),
            "rate limit",
        ),
        (
            r#"{"status":"failed","error":{"code":"insufficient_quota","message":"pay"}}"#.to_owned(),
            "usage limit",
        ),
        (r#"{"error":{"message":"something"}}"#.to_owned(), "overloaded"),
    ] {
        let failure = Failure::in_stream(&serde_json::from_str(&event).unwrap());
        assert_eq!(name(&failure), wanted, "{event}: {failure:?}");
    }
}
