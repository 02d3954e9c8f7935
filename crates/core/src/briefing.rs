//! Briefings: how things stand, in plain words, from data alone. No model is asked.
//!
//! | audience | is told | is never told |
//! |---|---|---|
//! | `owner` | what waits for whom and the commands for it, what is at work, what was done, what it cost | |
//! | `stakeholder` | progress, risks, deadlines | ids, paths, sums of money, names, what agents wrote |
//! | `external` | what was delivered and what is being worked on, by title | anything else |
//!
//! For the last two a title is stripped of whatever looks like the name of something internal ([`crate::plain`]).

mod external;
mod owner;
mod stakeholder;
#[cfg(test)]
mod tests;

use jiff::Timestamp as Moment;
use jiff::tz::TimeZone;
use longhaul_events::Timestamp;
use serde::Serialize;

pub use external::External;
pub use owner::{Owner, OwnersTask};
pub use stakeholder::{Due, Risk, Stakeholder, StakeholdersTask};

use crate::inbox::{Entry, Seen, TaskSeen};
use crate::outcome::Outcome;
use crate::task::TaskState;

const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Who is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Audience {
    #[default]
    Owner,
    Stakeholder,
    External,
}

/// What is known beside the tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether a daemon runs, and how it is; none where nobody looked.
    pub daemon: Option<DaemonLine>,
    /// Paid today (UTC) by all sessions.
    pub money_today_micros: u64,
    /// What a day may cost.
    pub money_day_micros: Option<u64>,
}

/// The daemon, in a line. The engine fills it in; here it is only shown, to the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DaemonLine {
    pub state: DaemonState,
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonState {
    Runs,
    Paused,
    Drains,
    DoesNotRun,
}

/// What somebody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "audience", rename_all = "snake_case")]
pub enum Briefing {
    Owner(Owner),
    Stakeholder(Stakeholder),
    External(External),
}

/// Tells how things stand.
pub fn brief(seen: &Seen, entries: &[Entry], around: &Surroundings, audience: Audience) -> Briefing {
    match audience {
        Audience::Owner => Briefing::Owner(owner::brief(seen, entries, around)),
        Audience::Stakeholder => Briefing::Stakeholder(stakeholder::brief(seen)),
        Audience::External => Briefing::External(external::brief(seen)),
    }
}

impl Briefing {
    /// As a text, for a terminal or a message.
    pub fn text(&self) -> String {
        match self {
            Self::Owner(owner) => owner.text(),
            Self::Stakeholder(stakeholder) => stakeholder.text(),
            Self::External(external) => external.text(),
        }
    }
}

/// Where a task stands, for whoever needs no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Queued,
    AtWork,
    Waits,
    CameToNothing,
    Done,
    /// Nobody wants it, or nobody knows.
    Gone,
}

fn stands(task: &TaskSeen) -> Stands {
    if task.given_up().is_some() {
        return Stands::CameToNothing;
    }
    match &task.state {
        TaskState::Queued => Stands::Queued,
        TaskState::Open => Stands::AtWork,
        TaskState::Waits(_) => Stands::Waits,
        TaskState::HandedOver(_) | TaskState::Over(Outcome::Failed(_) | Outcome::CouldNot(_)) => {
            Stands::CameToNothing
        }
        TaskState::Over(Outcome::Completed { .. }) => Stands::Done,
        TaskState::Ending
        | TaskState::NotHere
        | TaskState::Over(Outcome::Cancelled { .. } | Outcome::Blocked(_) | Outcome::Parked(_)) => {
            Stands::Gone
        }
    }
}

/// When a task came to where it stands; one that goes on, when it was opened.
fn came(task: &TaskSeen) -> Timestamp {
    match stands(task) {
        Stands::Queued | Stands::AtWork => task.opened,
        Stands::Waits | Stands::CameToNothing | Stands::Done | Stands::Gone => {
            task.halted.as_ref().map_or(task.since, |halted| halted.at)
        }
    }
}

/// Those that were done within so many days, the newest first.
fn done_within(seen: &Seen, days: i64) -> Vec<&TaskSeen> {
    let is_recent = |task: &&TaskSeen| seen.now.0.saturating_sub(came(task).0) < days * DAY_MS;
    let mut done: Vec<&TaskSeen> =
        seen.tasks.iter().filter(|task| stands(task) == Stands::Done).filter(is_recent).collect();
    done.sort_by_key(|task| (std::cmp::Reverse(came(task)), task.id));
    done
}

/// Those that stand like this, the longest first.
fn standing(seen: &Seen, like: Stands) -> Vec<&TaskSeen> {
    let mut all: Vec<&TaskSeen> = seen.tasks.iter().filter(|task| stands(task) == like).collect();
    all.sort_by_key(|task| (came(task), task.id));
    all
}

/// `1 task is`, `3 tasks are`.
fn count(number: usize, one: &str, more: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {more}") }
}

/// How long, in the largest unit that fits.
fn long(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    match minutes {
        0 => "less than a minute".to_owned(),
        1 => "1 minute".to_owned(),
        2..=59 => format!("{minutes} minutes"),
        60..=119 => "1 hour".to_owned(),
        120..=2879 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}

/// `Tuesday, 17 November 2026`, in UTC.
fn day(at: Timestamp) -> String {
    written(at, "%A, %-d %B %Y")
}

fn written(at: Timestamp, form: &str) -> String {
    match Moment::from_millisecond(at.0) {
        Ok(moment) => moment.to_zoned(TimeZone::UTC).strftime(form).to_string(),
        Err(_) => "an unknown day".to_owned(),
    }
}

/// A heading and its lines, or nothing.
fn section(heading: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{heading}\n  {}\n", lines.join("\n  "))
}
