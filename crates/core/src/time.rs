//! Showing moments to people.

use jiff::Timestamp as Moment;
use longhaul_events::Timestamp;

/// RFC 3339 in UTC with milliseconds, such as `2026-11-15T19:55:52.120Z`.
pub fn rfc3339(at: Timestamp) -> String {
    match Moment::from_millisecond(at.0) {
        Ok(moment) => format!("{moment:.3}"),
        Err(_) => format!("{}ms", at.0),
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
}
