//! Times as people read them: by the clock on their wall, to the second. Whatever reads a pipe or JSON gets UTC, as it
//! is in the data.

use std::io::{IsTerminal as _, stdout};

use jiff::Timestamp;
use jiff::tz::TimeZone;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_by_the_clock_of_its_zone_and_to_the_second() {
        let india = TimeZone::posix("IST-5:30").unwrap();
        assert_eq!(in_zone("2026-11-15T20:00:00.120Z", india.clone()), "2026-11-16 01:30:00");
        assert_eq!(in_zone("2026-11-15T20:00:00.120Z", TimeZone::UTC), "2026-11-15 20:00:00");
        assert_eq!(in_zone("9223372036854775807ms", india), "9223372036854775807ms");
    }
}
