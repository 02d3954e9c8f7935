//! Showing moments and lengths of time to people.

use jiff::Timestamp as Moment;
use longhaul_events::Timestamp;

/// RFC 3339 in UTC with milliseconds, such as `2026-11-15T19:55:52.120Z`.
pub fn rfc3339(at: Timestamp) -> String {
    match Moment::from_millisecond(at.0) {
        Ok(moment) => format!("{moment:.3}"),
        Err(_) => format!("{}ms", at.0),
    }
}

/// How long ago, in the largest unit that fits: `3 min ago`.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.since_ms(at) / 1000;
    match seconds {
        0..=4 => "just now".to_owned(),
        5..=119 => format!("{seconds} s ago"),
        120..=7199 => format!("{} min ago", seconds / 60),
        7200..=172_799 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_in_utc_with_milliseconds() {
        assert_eq!(rfc3339(Timestamp(1_794_772_800_120)), "2026-11-15T20:00:00.120Z");
        assert_eq!(rfc3339(Timestamp(0)), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_moment_beyond_the_calendar_is_still_shown() {
        assert_eq!(rfc3339(Timestamp(i64::MAX)), "9223372036854775807ms");
    }

    #[test]
    fn the_largest_fitting_unit_is_used() {
        let at = |seconds: i64| ago(Timestamp(0), Timestamp(seconds * 1000));
        assert_eq!(
            [at(1), at(60), at(180), at(7200), at(172_800)],
            ["just now", "60 s ago", "3 min ago", "2 h ago", "2 days ago"]
        );
        assert_eq!(ago(Timestamp(5000), Timestamp(0)), "just now", "a clock that went back");
    }
}
