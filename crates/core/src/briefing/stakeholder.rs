//! What those are told who wait for results: progress, risks, deadlines. No id, no path, no sum, no name.

use longhaul_events::Timestamp;
use serde::Serialize;

use super::{Stands, came, count, day, done_within, long, section, standing, stands};
use crate::inbox::{Delivered, Seen, TaskSeen};
use crate::outcome::Outcome;
use crate::parking::ParkCode;
use crate::plain::public_title;
use crate::task::TaskState;

const MOST: usize = 20;
const DONE_DAYS: i64 = 7;
const DAY_MS: i64 = super::DAY_MS;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stakeholder {
    pub day: String,
    pub headline: String,
    /// What was finished in the last seven days.
    pub done: Vec<StakeholdersTask>,
    pub in_progress: Vec<StakeholdersTask>,
    pub planned: Vec<StakeholdersTask>,
    pub risks: Vec<Risk>,
    pub deadlines: Vec<Due>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StakeholdersTask {
    pub title: String,
    pub state: &'static str,
    /// For how long it has stood there.
    pub since: String,
}

/// What may keep a task from being done in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Risk {
    pub title: String,
    pub risk: &'static str,
    pub since: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Due {
    pub title: String,
    pub day: String,
    pub state: &'static str,
}

pub(super) fn brief(seen: &Seen) -> Stakeholder {
    let told = |task: &TaskSeen| StakeholdersTask {
        title: public_title(&task.title),
        state: state(task),
        since: long(seen.now.0.saturating_sub(came(task).0)),
    };
    let listed = |tasks: Vec<&TaskSeen>| tasks.into_iter().map(told).collect::<Vec<_>>();
    let (done, planned) = (listed(done_within(seen, DONE_DAYS)), listed(standing(seen, Stands::Queued)));
    let mut going = standing(seen, Stands::AtWork);
    going.extend(standing(seen, Stands::Waits));
    let in_progress = listed(going);
    let risks = risks(seen);
    let headline = format!(
        "{} in the last seven days, {} in progress, {} planned, {}.",
        count(done.len(), "task was finished", "tasks were finished"),
        count(in_progress.len(), "is", "are"),
        count(planned.len(), "is", "are"),
        count(risks.len(), "needs attention", "need attention"),
    );
    let deadlines = deadlines(seen);
    Stakeholder { day: day(seen.now), headline, done, in_progress, planned, risks, deadlines }
}

fn state(task: &TaskSeen) -> &'static str {
    match stands(task) {
        Stands::Queued => "planned",
        Stands::AtWork => "being worked on",
        Stands::Waits => "waits",
        Stands::CameToNothing => "did not work out so far",
        Stands::Gone => "dropped",
        Stands::Done => match task.delivered {
            Delivered::Nothing => "finished",
            Delivered::Branch | Delivered::Pull => "finished, and to be merged,",
            Delivered::Merged => "merged",
        },
    }
}

fn risks(seen: &Seen) -> Vec<Risk> {
    let mut risks = Vec::new();
    for task in &seen.tasks {
        if let Some((risk, since)) = risk(task, seen) {
            let since = long(seen.now.0.saturating_sub(since.0));
            risks.push(Risk { title: public_title(&task.title), risk, since });
        }
    }
    risks
}

/// The first that holds, and since when.
fn risk(task: &TaskSeen, seen: &Seen) -> Option<(&'static str, Timestamp)> {
    let standing = stands(task);
    if matches!(standing, Stands::Done | Stands::Gone) {
        return None;
    }
    if let Some(deadline) = task.deadline.filter(|deadline| *deadline < seen.now) {
        return Some(("is late", deadline));
    }
    let waits = match &task.state {
        _ if standing == Stands::CameToNothing => {
            Some("did not work out so far, and somebody has to look at it")
        }
        TaskState::Waits(outcome) => waits(task, outcome),
        TaskState::Queued
        | TaskState::Open
        | TaskState::Ending
        | TaskState::HandedOver(_)
        | TaskState::Over(_)
        | TaskState::NotHere => None,
    };
    let asked = task.questions.first().map(|asked| ("has a question open", asked.at));
    let is_due = task.deadline.is_some_and(|deadline| deadline.0.saturating_sub(seen.now.0) < DAY_MS);
    let due = is_due.then_some(("is due within a day", task.opened));
    waits.map(|risk| (risk, came(task))).or(asked).or(due)
}

fn waits(task: &TaskSeen, outcome: &Outcome) -> Option<&'static str> {
    if task.halted.as_ref().is_some_and(|halted| halted.goes_on_at.is_some()) {
        return None;
    }
    let (Outcome::Blocked(why) | Outcome::Parked(why) | Outcome::CouldNot(why) | Outcome::Failed(why)) =
        outcome
    else {
        return None;
    };
    Some(match ParkCode::of(&why.reason) {
        _ if why.reason == crate::outcome::GATE => "waits for a decision",
        Some(code) if crate::inbox::is_budget(code) => "has used up its budget",
        Some(ParkCode::ReviewRequired) => "waits for a review",
        Some(_) | None => "is blocked",
    })
}

fn deadlines(seen: &Seen) -> Vec<Due> {
    let is_open = |task: &&TaskSeen| !matches!(stands(task), Stands::Done | Stands::Gone);
    let mut due: Vec<(i64, Due)> = seen
        .tasks
        .iter()
        .filter(is_open)
        .filter_map(|task| {
            let deadline = task.deadline?;
            let (title, state) = (public_title(&task.title), state(task));
            Some((deadline.0, Due { title, day: day(deadline), state }))
        })
        .collect();
    due.sort_by(|one, other| (one.0, &one.1.title).cmp(&(other.0, &other.1.title)));
    due.into_iter().map(|(_, due)| due).collect()
}

impl Stakeholder {
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.day, self.headline);
        let risks: Vec<String> =
            self.risks.iter().map(|risk| format!("{}: {} ({})", risk.title, risk.risk, risk.since)).collect();
        text += &section("Needs attention", &at_most(risks));
        text += &section(
            "In progress",
            &lines(&self.in_progress, |task| format!("{} for {}", task.state, task.since)),
        );
        text += &section("Planned", &lines(&self.planned, |task| format!("for {}", task.since)));
        text += &section(
            "Finished in the last seven days",
            &lines(&self.done, |task| format!("{} {} ago", task.state, task.since)),
        );
        let due: Vec<String> =
            self.deadlines.iter().map(|due| format!("{}: {} ({})", due.day, due.title, due.state)).collect();
        text += &section("Deadlines", &at_most(due));
        text
    }
}

fn lines(tasks: &[StakeholdersTask], about: impl Fn(&StakeholdersTask) -> String) -> Vec<String> {
    at_most(tasks.iter().map(|task| format!("{} ({})", task.title, about(task))).collect())
}

fn at_most(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}
