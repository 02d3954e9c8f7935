//! Times as people read them: by the clock on their wall, to the second. Whatever reads a pipe or JSON gets UTC, as it
//! is in the data.

use std::io::{IsTerminal as _, stdout};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use longhaul_runtime::types::{self, Estimate, parse_duration_ms};
use longhaul_runtime::{Clock as _, SystemClock};

/// How a moment is written on standard output.
pub(crate) fn shown(utc: &str) -> String {
    if stdout().is_terminal() { local(utc) } else { utc.to_owned() }
}

/// In the zone of this machine: that of `TZ`, or the system's.
pub(crate) fn local(utc: &str) -> String {
    in_zone(utc, TimeZone::system())
}

/// What is no moment is left as it is.
fn in_zone(utc: &str, zone: TimeZone) -> String {
    let moment = utc.parse::<Timestamp>().map(|moment| moment.to_zoned(zone));
    moment.map_or_else(|_| utc.to_owned(), |moment| moment.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Reads a day, or how long ago something was.
pub(crate) fn since(text: &str) -> Result<types::Timestamp, String> {
    let day = || {
        let begin = text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(types::Timestamp(begin.timestamp().as_millisecond()))
    };
    let ago = || {
        let ms = parse_duration_ms(text).ok()?;
        Some(types::Timestamp(SystemClock.now().0.saturating_sub(i64::try_from(ms).ok()?)))
    };
    let is_day = text.contains('-');
    let found = if is_day { day() } else { ago() };
    found.ok_or_else(|| "write a day, such as `2026-11-01`, or how long ago, such as `7d`".to_owned())
}

/// How long something took, to what people care for: `0.4s`, `12s`, `4m 10s`, `2h 05m`.
pub(crate) fn length(ms: u64) -> String {
    let seconds = ms / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0..10) => format!("{}.{}s", seconds, ms % 1000 / 100),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

/// What earlier runs say of what is left of one.
pub(crate) fn left(estimate: &Estimate) -> String {
    let Estimate { runs, rest } = estimate;
    match rest {
        Some(rest) => format!(
            "about {} of work left, at most {} (by {runs} runs)",
            length(rest.likely_ms),
            length(rest.at_most_ms)
        ),
        None => format!("longer at work than any of {runs} runs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_told_to_what_people_care_for() {
        let told = [0, 449, 9_999, 12_345, 250_000, 7_500_000].map(length);
        assert_eq!(told, ["0.0s", "0.4s", "9.9s", "12s", "4m 10s", "2h 05m"]);
    }

    #[test]
    fn a_day_and_a_while_ago_are_read() {
        assert_eq!(since("2026-11-16"), Ok(types::Timestamp(1_794_787_200_000)));
        let week = SystemClock.now().0 - since("7d").unwrap().0;
        assert!((604_800_000..604_900_000).contains(&week), "{week}");
        for text in ["", "soon", "2026-13-01", "7"] {
            assert!(since(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_moment_is_told_by_the_clock_of_its_zone_and_to_the_second() {
        let india = TimeZone::posix("IST-5:30").unwrap();
        assert_eq!(in_zone("2026-11-15T20:00:00.120Z", india.clone()), "2026-11-16 01:30:00");
        assert_eq!(in_zone("2026-11-15T20:00:00.120Z", TimeZone::UTC), "2026-11-15 20:00:00");
        assert_eq!(in_zone("9223372036854775807ms", india), "9223372036854775807ms");
    }
}
