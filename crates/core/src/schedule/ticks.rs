//! The moments that a pattern means in a zone, day by day.

use jiff::SignedDuration;
use jiff::Timestamp as Moment;
use jiff::civil::{Date, DateTime};
use jiff::tz::AmbiguousOffset;
use longhaul_events::Timestamp;

use super::cron::{Cron, DayRule, Pace};
use super::zone::Zone;

/// The 29th of February is on each day of the week at least once in so many days, also around 2100.
const LONGEST_SEARCH_DAYS: usize = 366 * 41;

/// After one moment and up to another, and no more ticks than so many.
pub(super) struct Period {
    pub(super) after: Timestamp,
    pub(super) until: Timestamp,
    pub(super) most: usize,
}

pub(super) fn next_after(cron: &Cron, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let after = Moment::from_millisecond(after.0).ok()?;
    let first_of = |date: Date| on_day(cron, zone, date).into_iter().filter(|tick| *tick > after).min();
    // Where a clock goes back over midnight, a tick of the day before may still be to come.
    let mut date = zone.rules.to_datetime(after).date().yesterday().ok()?;
    for _ in 0..LONGEST_SEARCH_DAYS {
        let found = first_of(date);
        let next_day = date.tomorrow().ok();
        if let Some(tick) = found {
            // For the same reason one of the next day may come first.
            let earlier = next_day.and_then(first_of);
            return Some(stamp(earlier.map_or(tick, |other| other.min(tick))));
        }
        date = next_day?;
    }
    None
}

/// Looked for from the end: of many, the newest are wanted.
pub(super) fn between(cron: &Cron, zone: &Zone, period: &Period) -> Vec<Timestamp> {
    let moment = |at: Timestamp| Moment::from_millisecond(at.0);
    let (Ok(after), Ok(until)) = (moment(period.after), moment(period.until)) else { return Vec::new() };
    if until <= after || period.most == 0 {
        return Vec::new();
    }
    let date_of = |at: Moment| zone.rules.to_datetime(at).date();
    let oldest = date_of(after).yesterday().unwrap_or(Date::MIN);
    let mut date = date_of(until).tomorrow().unwrap_or(Date::MAX);
    let mut found: Vec<Moment> = Vec::new();
    let mut spare_days = 1;
    while date >= oldest {
        found.extend(on_day(cron, zone, date).into_iter().filter(|tick| *tick > after && *tick <= until));
        if found.len() >= period.most {
            // A day before may hold a tick that is newer than the oldest of these.
            if spare_days == 0 {
                break;
            }
            spare_days -= 1;
        }
        let Ok(before) = date.yesterday() else { break };
        date = before;
    }
    found.sort_unstable();
    found.dedup();
    let surplus = found.len().saturating_sub(period.most);
    found.drain(..surplus);
    found.into_iter().map(stamp).collect()
}

/// All ticks of a day as its calendar has it, in no order.
fn on_day(cron: &Cron, zone: &Zone, date: Date) -> Vec<Moment> {
    if !is_due_on(cron, date) {
        return Vec::new();
    }
    let times = values(cron.hours).flat_map(|hour| values(cron.minutes).map(move |minute| (hour, minute)));
    times.flat_map(|(hour, minute)| moments(date.at(hour, minute, 0, 0), cron.pace, zone)).collect()
}

fn is_due_on(cron: &Cron, date: Date) -> bool {
    let has = |bits: u64, value: i8| bits & 1 << value != 0;
    let in_month = has(cron.days, date.day());
    let in_week = has(cron.weekdays, date.weekday().to_sunday_zero_offset());
    let is_day = match cron.day_rule {
        DayRule::Both => in_month && in_week,
        DayRule::Either => in_month || in_week,
    };
    is_day && has(cron.months, date.month())
}

/// When the clocks of a zone show a time: usually once.
fn moments(time: DateTime, pace: Pace, zone: &Zone) -> Vec<Moment> {
    let at = |offset: jiff::tz::Offset| offset.to_timestamp(time).ok();
    let found = match (zone.rules.to_ambiguous_timestamp(time).offset(), pace) {
        (AmbiguousOffset::Unambiguous { offset }, _) => [at(offset), None],
        (AmbiguousOffset::Fold { before, .. }, Pace::Times) => [at(before), None],
        (AmbiguousOffset::Fold { before, after }, Pace::Intervals) => [at(before), at(after)],
        (AmbiguousOffset::Gap { .. }, Pace::Intervals) => [None, None],
        (AmbiguousOffset::Gap { before, .. }, Pace::Times) => {
            [at(before).and_then(|at| change_before(at, zone)), None]
        }
    };
    found.into_iter().flatten().collect()
}

/// When the clocks were put forward that would show a moment's old time by then.
fn change_before(moment: Moment, zone: &Zone) -> Option<Moment> {
    let just_after = moment.checked_add(SignedDuration::from_nanos(1)).ok()?;
    zone.rules.preceding(just_after).next().map(|change| change.timestamp())
}

fn values(bits: u64) -> impl Iterator<Item = i8> + Clone {
    (0..60).filter(move |value| bits & 1 << value != 0)
}

fn stamp(moment: Moment) -> Timestamp {
    Timestamp(moment.as_millisecond())
}
