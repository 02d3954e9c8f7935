//! What whoever runs the engine is told: everything, with what to type.

use longhaul_events::{SessionId, TaskId};
use serde::Serialize;

use super::{DaemonLine, Stands, Surroundings, came, count, done_within, long, section, standing, written};
use crate::inbox::{Delivered, Entry, Kind, Seen, TaskSeen};
use crate::plain::{clean, title};
use crate::time::rfc3339;
use crate::units::show_money;

/// How much of a list is told; the rest is counted.
const MOST: usize = 20;
/// How far back "done" reaches.
const DONE_DAYS: i64 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Owner {
    pub at: String,
    pub headline: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon: Option<DaemonLine>,
    pub money_today_micros: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money_day_micros: Option<u64>,
    /// What waits for a person, the most urgent first; results are below `done`.
    pub waiting: Vec<Entry>,
    pub at_work: Vec<OwnersTask>,
    pub queued: Vec<OwnersTask>,
    pub done: Vec<OwnersTask>,
    #[serde(skip)]
    written: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnersTask {
    pub task: TaskId,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What it does or came to, in a few words.
    pub doing: String,
    pub for_ms: u64,
    pub money_micros: u64,
}

pub(super) fn brief(seen: &Seen, entries: &[Entry], around: &Surroundings) -> Owner {
    let listed = |tasks: Vec<&TaskSeen>, doing: fn(&TaskSeen) -> String| -> Vec<OwnersTask> {
        tasks.into_iter().map(|task| told(task, seen, doing(task))).collect()
    };
    let waiting: Vec<Entry> = entries.iter().filter(|entry| entry.kind != Kind::Result).cloned().collect();
    let at_work = listed(standing(seen, Stands::AtWork), at_step);
    let queued = listed(standing(seen, Stands::Queued), |_| "waits for its turn".to_owned());
    let done = listed(done_within(seen, DONE_DAYS), came_to);
    let headline = format!(
        "{} for you, {} at work, {} in the queue, {} in the last 24 hours.",
        count(waiting.len(), "thing waits", "things wait"),
        count(at_work.len(), "task is", "tasks are"),
        count(queued.len(), "is", "are"),
        count(done.len(), "was done", "were done"),
    );
    let mut owner = Owner {
        at: rfc3339(seen.now),
        headline,
        daemon: around.daemon.clone(),
        money_today_micros: around.money_today_micros,
        money_day_micros: around.money_day_micros,
        waiting,
        at_work,
        queued,
        done,
        written: String::new(),
    };
    owner.written = written_out(&owner, seen);
    owner
}

impl Owner {
    pub(super) fn text(&self) -> String {
        self.written.clone()
    }
}

fn told(task: &TaskSeen, seen: &Seen, doing: String) -> OwnersTask {
    let for_ms = u64::try_from(seen.now.0.saturating_sub(came(task).0)).unwrap_or_default();
    OwnersTask {
        task: task.id,
        title: title(&task.title),
        session: task.root,
        step: task.step.clone(),
        doing,
        for_ms,
        money_micros: task.money_micros,
    }
}

fn at_step(task: &TaskSeen) -> String {
    task.step.as_ref().map_or_else(|| "begins".to_owned(), |step| format!("at `{}`", clean(step)))
}

fn came_to(task: &TaskSeen) -> String {
    match task.delivered {
        Delivered::Nothing => "completed".to_owned(),
        Delivered::Branch => "completed, on a branch".to_owned(),
        Delivered::Pull => "completed, in a pull request".to_owned(),
        Delivered::Merged => "merged".to_owned(),
    }
}

fn written_out(owner: &Owner, seen: &Seen) -> String {
    let day = written(seen.now, "%A, %-d %B %Y, %H:%M UTC");
    let cap = owner.money_day_micros.map(|cap| format!(" of {}", show_money(cap))).unwrap_or_default();
    let mut text = format!(
        "{day}\n{}\n{}{cap} was spent today.\n",
        owner.headline,
        show_money(owner.money_today_micros)
    );
    if let Some(daemon) = &owner.daemon {
        text.push_str(&clean(&daemon.words));
        text.push('\n');
    }
    text += &section("Waits for you", &waiting(owner, seen));
    text += &section("At work", &tasks(&owner.at_work, Ago::For));
    text += &section("In the queue", &tasks(&owner.queued, Ago::For));
    text += &section("Done in the last 24 hours", &tasks(&owner.done, Ago::Ago));
    text
}

fn waiting(owner: &Owner, seen: &Seen) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in owner.waiting.iter().take(MOST) {
        let since = long(seen.now.0.saturating_sub(entry.since.0));
        let until = entry.until.map(|until| format!(", {} left", long(until.0.saturating_sub(seen.now.0))));
        let about = format!("({}, {since}{})", entry.urgency.word(), until.unwrap_or_default());
        lines.push(format!("{}  {} {about}", entry.id, clean(&entry.title)));
        lines.push(format!("    {}", title(&entry.text)));
        lines.extend(entry.remedies.first().map(|remedy| format!("    {}", remedy.command)));
    }
    lines.extend(and_more(owner.waiting.len(), "longhaul inbox"));
    lines
}

/// How a duration is told.
#[derive(Clone, Copy)]
enum Ago {
    For,
    Ago,
}

fn tasks(all: &[OwnersTask], ago: Ago) -> Vec<String> {
    let line = |task: &OwnersTask| {
        let ms = i64::try_from(task.for_ms).unwrap_or(i64::MAX);
        let when = match ago {
            Ago::For => format!("for {}", long(ms)),
            Ago::Ago => format!("{} ago", long(ms)),
        };
        let money = (task.money_micros > 0).then(|| format!(", {}", show_money(task.money_micros)));
        format!("{}  {} ({}, {when}{})", task.task, task.title, task.doing, money.unwrap_or_default())
    };
    let mut lines: Vec<String> = all.iter().take(MOST).map(line).collect();
    lines.extend(and_more(all.len(), "longhaul task list"));
    lines
}

fn and_more(number: usize, command: &str) -> Option<String> {
    (number > MOST).then(|| format!("and {} more: {command}", number - MOST))
}
