//! What people outside are told: titles of what was delivered and of what is being worked on. Nothing else, by construction:
//! of a task only its title and where it stands are read here.

use serde::Serialize;

use super::{Stands, count, day, done_within, section, standing};
use crate::inbox::{Delivered, Seen, TaskSeen};
use crate::plain::public_title;

const MOST: usize = 20;
const DONE_DAYS: i64 = 7;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct External {
    pub day: String,
    pub headline: String,
    /// In the last seven days.
    pub delivered: Vec<String>,
    pub in_progress: Vec<String>,
}

pub(super) fn brief(seen: &Seen) -> External {
    let titles = |tasks: Vec<&TaskSeen>| -> Vec<String> {
        tasks.into_iter().map(|task| public_title(&task.title)).collect()
    };
    let merged = done_within(seen, DONE_DAYS).into_iter().filter(|task| task.delivered == Delivered::Merged);
    let mut going = standing(seen, Stands::AtWork);
    // Why something waits is nobody's business outside.
    going.extend(standing(seen, Stands::Waits));
    let (delivered, in_progress) = (titles(merged.collect()), titles(going));
    let headline = format!(
        "{} in the last seven days, {} in progress.",
        count(delivered.len(), "change was delivered", "changes were delivered"),
        count(in_progress.len(), "is", "are"),
    );
    External { day: day(seen.now), headline, delivered, in_progress }
}

impl External {
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.day, self.headline);
        text += &section("Delivered", &at_most(&self.delivered));
        text += &section("In progress", &at_most(&self.in_progress));
        text
    }
}

fn at_most(titles: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = titles.iter().take(MOST).cloned().collect();
    let more = titles.len().saturating_sub(MOST);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines
}
