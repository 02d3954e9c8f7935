//! Zones of the world, by their IANA names. Their rules are compiled in, so that what a schedule comes to does not
//! depend on the files of the machine.

use jiff::Timestamp as Moment;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use longhaul_events::Timestamp;

use crate::workflow::suggest::closest;

/// A zone by its name, such as `Europe/Berlin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    pub(super) rules: TimeZone,
}

/// A name that no zone has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no zone `{name}`; {}", self.fix())]
pub struct UnknownZone {
    pub name: String,
    /// What may have been meant.
    pub meant: Option<String>,
}

impl UnknownZone {
    /// What to do about it.
    pub fn fix(&self) -> String {
        match &self.meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "write an IANA name, such as `Europe/Berlin` or `UTC`".to_owned(),
        }
    }
}

impl Zone {
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }

    pub fn named(name: &str) -> Result<Self, UnknownZone> {
        let zones = TimeZoneDatabase::bundled();
        // The database has a name for what is not known, which nobody means.
        let known = zones.get(name).ok().filter(|rules| !rules.is_unknown());
        let Some(rules) = known else {
            return Err(UnknownZone { name: name.chars().take(80).collect(), meant: meant(&zones, name) });
        };
        let name = rules.iana_name().unwrap_or(name).to_owned();
        Ok(Self { name, rules })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// A moment as the clocks there show it.
    pub(super) fn show(&self, at: Timestamp) -> String {
        match Moment::from_millisecond(at.0) {
            Ok(moment) => moment.to_zoned(self.rules.clone()).strftime("%a %Y-%m-%d %H:%M %Z").to_string(),
            Err(_) => crate::time::rfc3339(at),
        }
    }
}

/// The name that a wrong one was probably meant to be; a city alone is enough.
fn meant(zones: &TimeZoneDatabase, wrong: &str) -> Option<String> {
    let names: Vec<String> = zones.available().map(|name| name.to_string()).collect();
    let lower = wrong.to_ascii_lowercase().replace(' ', "_");
    let city =
        |name: &&String| name.rsplit('/').next().is_some_and(|city| city.to_ascii_lowercase() == lower);
    if let Some(name) = names.iter().find(city) {
        return Some(name.clone());
    }
    // Only so many are compared, so those come first that begin like it.
    let start = lower.get(..1).unwrap_or_default();
    let alike = names.iter().map(String::as_str).filter(|name| name.to_ascii_lowercase().starts_with(start));
    closest(wrong, alike).map(str::to_owned)
}
