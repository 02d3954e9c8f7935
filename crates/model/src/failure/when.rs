//! When to ask again, wherever a provider says it: in a head, in the error, or in its words.

use std::time::{SystemTime, UNIX_EPOCH};

use hyper::header::HeaderMap;
use jiff::Timestamp;
use jiff::fmt::rfc2822;

use super::said::Said;

/// What a provider limits, as its headers name it. Each has its own time.
const LIMITED: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];
/// Nobody means a longer one; sums stay small.
const MOST_SECONDS: f64 = 366.0 * 86_400.0;

pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The window of a plan is used up, in which there is nothing to ask for until it ends.
pub(super) fn is_plan_used_up(headers: &HeaderMap) -> bool {
    header(headers, "anthropic-ratelimit-unified-status") == Some("rejected")
}

/// How long to leave the provider alone.
pub(super) fn wait_ms(headers: &HeaderMap, said: &Said, now_ms: i64) -> Option<u64> {
    let in_milliseconds = || header(headers, "retry-after-ms").and_then(|text| text.parse::<u64>().ok());
    in_milliseconds()
        .or_else(|| retry_after(header(headers, "retry-after")?, now_ms))
        .or_else(|| said.resets_in_s.map(|seconds| seconds.saturating_mul(1000)))
        .or_else(|| Some(until(said.resets_at_s?.checked_mul(1000)?, now_ms)))
        .or_else(|| in_words(&said.message))
        .or_else(|| windows(headers, now_ms))
}

/// When a limit of use is lifted.
pub(super) fn resets_at_ms(headers: &HeaderMap, said: &Said, now_ms: i64) -> Option<i64> {
    let seconds = |seconds: i64| seconds.checked_mul(1000);
    let after = |ms: u64| now_ms.checked_add_unsigned(ms);
    let of_plan = || header(headers, "anthropic-ratelimit-unified-reset")?.parse().ok().and_then(seconds);
    said.resets_at_s
        .and_then(seconds)
        .or_else(|| after(said.resets_in_s?.saturating_mul(1000)))
        .or_else(of_plan)
        .or_else(|| moment_in_words(&said.message))
        .or_else(|| after(retry_after(header(headers, "retry-after")?, now_ms)?))
        .or_else(|| after(in_words(&said.message)?))
}

/// Seconds, or a date.
fn retry_after(text: &str, now_ms: i64) -> Option<u64> {
    let as_date = || rfc2822::parse(text).ok().map(|date| until(date.timestamp().as_millisecond(), now_ms));
    text.parse().ok().and_then(milliseconds).or_else(as_date)
}

fn until(at_ms: i64, now_ms: i64) -> u64 {
    u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or_default()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is within a year, and not negative"
)]
fn milliseconds(seconds: f64) -> Option<u64> {
    (0.0..=MOST_SECONDS).contains(&seconds).then(|| (seconds * 1000.0).ceil() as u64)
}

/// The window that is empty; if none is, the one that lasts longest, since one of them had too little left.
fn windows(headers: &HeaderMap, now_ms: i64) -> Option<u64> {
    let both = LIMITED.iter().flat_map(|limited| {
        let moment = header(headers, &format!("anthropic-ratelimit-{limited}-reset"))
            .and_then(|text| text.parse::<Timestamp>().ok())
            .map(|at| until(at.as_millisecond(), now_ms));
        let left = header(headers, &format!("anthropic-ratelimit-{limited}-remaining"));
        let pause = header(headers, &format!("x-ratelimit-reset-{limited}")).and_then(duration);
        let left_there = header(headers, &format!("x-ratelimit-remaining-{limited}"));
        [(moment, left), (pause, left_there)]
    });
    let known: Vec<(u64, bool)> = both.filter_map(|(wait, left)| Some((wait?, left == Some("0")))).collect();
    let empty = known.iter().filter(|(_, is_empty)| *is_empty).map(|(wait, _)| *wait).max();
    empty.or_else(|| known.iter().map(|(wait, _)| *wait).max())
}

/// `1h2m3.5s`, `120ms`, or plain seconds.
fn duration(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    if let Some(seconds) = rest.parse().ok().and_then(milliseconds) {
        return Some(seconds);
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let after = &rest[digits..];
        let unit = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
        let seconds = match &after[..unit] {
            "ms" => number / 1000.0,
            "s" => number,
            "m" => number * 60.0,
            "h" => number * 3600.0,
            "d" => number * 86_400.0,
            _ => return None,
        };
        total = total.saturating_add(milliseconds(seconds)?);
        rest = &after[unit..];
    }
    (total > 0).then_some(total)
}

/// `Please try again in 1.898s.`
fn in_words(message: &str) -> Option<u64> {
    let message = message.to_lowercase();
    let (_, after) = message.split_once("again in ").or_else(|| message.split_once("retry in "))?;
    let mut words = after.split_whitespace();
    let first = words.next()?.trim_end_matches(['.', ',']);
    // A number alone is in the unit that follows.
    let number: f64 = match first.parse() {
        Ok(number) => number,
        Err(_) => return duration(first),
    };
    let seconds = match words.next()?.trim_end_matches(['.', ',', 's']) {
        "m" | "milli" | "millisecond" => number / 1000.0,
        "" | "second" | "sec" => number,
        "minute" | "min" => number * 60.0,
        "hour" | "hr" => number * 3600.0,
        "day" => number * 86_400.0,
        _ => return None,
    };
    milliseconds(seconds)
}

/// A moment within a text: `…|1750000000`, `2026-11-16T15:00:00Z`, `2026-12-01 at 00:00 UTC`.
fn moment_in_words(message: &str) -> Option<i64> {
    let after_bar = || message.rsplit_once('|')?.1.trim().parse::<i64>().ok()?.checked_mul(1000);
    let words: Vec<&str> =
        message.split_whitespace().map(|word| word.trim_matches(['.', ',', '(', ')', '`'])).collect();
    let stamp = || words.iter().find_map(|word| word.parse::<Timestamp>().ok());
    let day_and_hour = || {
        words.windows(4).find_map(|four| match four {
            [day, "at", hour, "UTC"] => format!("{day}T{hour}:00Z").parse::<Timestamp>().ok(),
            _ => None,
        })
    };
    after_bar().or_else(|| Some(stamp().or_else(day_and_hour)?.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_headers_and_people_write_them() {
        for (text, ms) in [
            ("1s", Some(1000)),
            ("6m0s", Some(360_000)),
            ("120ms", Some(120)),
            ("1h2m3.5s", Some(3_723_500)),
            ("7", Some(7000)),
            ("soon", None),
            ("5 apples", None),
            ("", None),
            ("-1", None),
            ("1e99", None),
        ] {
            assert_eq!(duration(text), ms, "{text}");
        }
        assert_eq!(in_words("Rate limit reached. Please try again in 1.898s. Visit us."), Some(1898));
        assert_eq!(in_words("Please retry in 32.5 seconds"), Some(32_500));
        assert_eq!(in_words("try again in 3 days 2 hours"), Some(259_200_000));
        assert_eq!(in_words("try again in a while"), None);
        assert_eq!(in_words("try again in"), None);
    }

    #[test]
    fn moments_are_found_in_words() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap().as_millisecond());
        assert_eq!(moment_in_words("usage limit reached|1750000000"), Some(1_750_000_000_000));
        assert_eq!(
            moment_in_words("You will regain access on 2026-12-01 at 00:00 UTC."),
            at("2026-12-01T00:00:00Z")
        );
        assert_eq!(moment_in_words("It resets at 2026-11-16T15:00:00Z."), at("2026-11-16T15:00:00Z"));
        assert_eq!(moment_in_words("It resets at 3pm (Europe/Berlin)"), None);
    }
}
