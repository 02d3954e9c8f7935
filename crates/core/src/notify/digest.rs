//! The daily digest: a time of day in a zone of the world.

use jiff::Timestamp as Moment;
use jiff::civil::Time;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use longhaul_events::Timestamp;

use crate::briefing::Audience;

/// One that is later than this is left out: the next one comes soon enough.
const LATEST_MS: i64 = 12 * 60 * 60 * 1000;

/// When a briefing is sent each day, and for whom it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    at: Time,
    zone: TimeZone,
    pub audience: Audience,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDigest {
    #[error("`{0}` is no time of day; write it as `\"08:00\"`")]
    At(String),
    #[error("`{0}` is no zone; write it as `Europe/Berlin`, or leave it out for UTC")]
    Zone(String),
    #[error("`{0}` is no audience; write `owner`, `stakeholder` or `external`")]
    Audience(String),
}

impl Digest {
    pub fn read(at: &str, zone: Option<&str>, audience: Option<&str>) -> Result<Self, BadDigest> {
        let zone = match zone {
            None => TimeZone::UTC,
            // The zones that are compiled in: what is due does not depend on the machine.
            Some(name) => TimeZoneDatabase::bundled()
                .get(name)
                .map_err(|_| BadDigest::Zone(name.chars().take(40).collect()))?,
        };
        let audience = match audience {
            None | Some("owner") => Audience::Owner,
            Some("stakeholder") => Audience::Stakeholder,
            Some("external") => Audience::External,
            Some(other) => return Err(BadDigest::Audience(other.chars().take(40).collect())),
        };
        let at = time_of_day(at).ok_or_else(|| BadDigest::At(at.chars().take(40).collect()))?;
        Ok(Self { at, zone, audience })
    }

    /// The moment for which one is due: the newest that is past, unless all up to then is settled, or it is long past.
    pub(super) fn due(&self, settled_until: Timestamp, now: Timestamp) -> Option<Timestamp> {
        self.newest(now).filter(|moment| settled_until < *moment && !is_too_late(*moment, now))
    }

    /// The newest moment of its kind that is past.
    pub(super) fn newest(&self, now: Timestamp) -> Option<Timestamp> {
        let here = Moment::from_millisecond(now.0).ok()?.to_zoned(self.zone.clone());
        let on = |date: jiff::civil::Date| {
            let zoned = date.to_datetime(self.at).to_zoned(self.zone.clone()).ok()?;
            Some(Timestamp(zoned.timestamp().as_millisecond()))
        };
        let today = on(here.date())?;
        if today <= now { Some(today) } else { on(here.date().yesterday().ok()?) }
    }
}

pub(super) fn is_too_late(moment: Timestamp, now: Timestamp) -> bool {
    now.0.saturating_sub(moment.0) >= LATEST_MS
}

/// `08:00`, and nothing else.
fn time_of_day(text: &str) -> Option<Time> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |digits: &str| -> Option<i8> {
        (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok())?
    };
    Time::new(number(hours)?, number(minutes)?, 0, 0).ok()
}
