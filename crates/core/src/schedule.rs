//! When something is due that happens again and again: five fields of cron in a zone of the world.
//!
//! Everything follows from its arguments: the rules of all zones are compiled in, and "now" is given. A tick is a moment
//! with a name that never changes, so two who compute the same tick mean the same thing.
//!
//! What happens when clocks are changed is what the cron of Unix does. A time of day that is missing is due at the first
//! moment after the gap, and one that comes twice is due the first time, so `0 2 * * *` is due once each day. What is due
//! at intervals (a `*` in the minutes or hours) keeps its pace instead: nothing is made up for, and both of two equal
//! times count. Why this is our own code: `docs/decisions/0025-triggers.md`.

mod cron;
#[cfg(test)]
mod tests;
mod ticks;
mod zone;

use longhaul_events::Timestamp;

pub use cron::{BadCron, Cron};
pub use zone::{UnknownZone, Zone};

/// When a trigger is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub cron: Cron,
    pub zone: Zone,
    pub catch_up: CatchUp,
    pub overlap: Overlap,
}

/// What becomes of ticks that nobody was there for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CatchUp {
    /// They are over.
    #[default]
    No,
    /// The newest of them is made up for, once.
    Newest,
}

/// What becomes of a tick while the task of an earlier one is still being done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overlap {
    /// It is left out, and that is on record.
    #[default]
    Skip,
}

/// A tick to come, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upcoming {
    pub at: Timestamp,
    /// In the zone of the schedule: `Tue 2026-11-17 02:00 CET`.
    pub local: String,
    /// From now on: `in 8h 3m`.
    pub wait: String,
}

impl Schedule {
    /// The first tick after a moment; none if it is never due again.
    pub fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        ticks::next_after(&self.cron, &self.zone, moment)
    }

    /// The ticks after one moment and up to another, the oldest first. Of more than `most`, the newest.
    pub fn ticks_between(&self, after: Timestamp, until: Timestamp, most: usize) -> Vec<Timestamp> {
        ticks::between(&self.cron, &self.zone, &ticks::Period { after, until, most })
    }

    /// The next ticks, in words.
    pub fn upcoming(&self, now: Timestamp, count: usize) -> Vec<Upcoming> {
        let following = |at: &Timestamp| self.next_after(*at);
        let ticks = std::iter::successors(self.next_after(now), following).take(count);
        ticks.map(|at| Upcoming { at, local: self.zone.show(at), wait: wait(at.since_ms(now)) }).collect()
    }
}

/// A wait in its two largest units.
fn wait(ms: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let mut rest = ms;
    let mut parts = Vec::new();
    for (name, unit) in UNITS {
        if rest >= unit && parts.len() < 2 {
            parts.push(format!("{}{name}", rest / unit));
        }
        rest %= unit;
    }
    if parts.is_empty() { "now".to_owned() } else { format!("in {}", parts.join(" ")) }
}
