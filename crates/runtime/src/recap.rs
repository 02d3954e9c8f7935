//! What happened in a session so far, for somebody who was not there and has little room.

use longhaul_events::{ReportKind, SessionId};

use crate::commands::Commands;
use crate::commands::walking::{PlanState, PlannedStep};
use crate::error::Error;
use crate::reader::{Happened, Reader, StoryEntry, Telling};

/// About how many bytes a token has. An estimate does: the room is an estimate too.
pub const TOKEN_BYTES: usize = 4;

/// The plan and the notes of a session, within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recap {
    pub goal: String,
    pub plan: Vec<PlannedStep>,
    /// What was noted, oldest first, in Markdown.
    pub notes: String,
    /// How many notes, the oldest, found no room.
    pub left_out: usize,
}

impl Commands {
    /// Tells what happened, the newest first to be kept when there is not room for all of it.
    pub fn recap(&self, reader: &Reader, id: SessionId, most_bytes: usize) -> Result<Recap, Error> {
        let row = reader.find_session(&id.to_string())?;
        let story = reader.story(&row, Telling::Events)?;
        let plan = shortened(self.plan(id)?, most_bytes / 3);
        let used: usize = plan.iter().map(|step| step.id.len() + step.title.len()).sum();
        let notes: Vec<String> = story.iter().filter(|entry| !entry.left_behind).filter_map(told).collect();
        let kept = newest(&notes, most_bytes.saturating_sub(used + row.goal.len()));
        let left_out = notes.len() - kept.len();
        Ok(Recap { goal: row.goal, plan, notes: kept.join("\n"), left_out })
    }
}

/// What lies behind is dropped first: it is told by the notes.
fn shortened(mut plan: Vec<PlannedStep>, most_bytes: usize) -> Vec<PlannedStep> {
    plan.retain(|step| step.state != PlanState::Behind);
    let mut used = 0;
    plan.retain(|step| {
        used += step.id.len() + step.title.len();
        used <= most_bytes
    });
    plan
}

/// The newest that fit; one that is too long alone is cut, so that the last word is always there.
fn newest(notes: &[String], most_bytes: usize) -> Vec<String> {
    let mut room = most_bytes;
    let mut kept = Vec::new();
    for note in notes.iter().rev() {
        if note.len() > room {
            if kept.is_empty() {
                kept.push(format!("{}…", beginning(note, room)));
            }
            break;
        }
        room -= note.len();
        kept.push(note.clone());
    }
    kept.reverse();
    kept
}

fn beginning(text: &str, most_bytes: usize) -> &str {
    let end = (0..=most_bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

fn told(entry: &StoryEntry) -> Option<String> {
    Some(match &entry.what {
        Happened::Finished { step, notes: Some(notes), .. } => format!("- `{}`: {}", step.0, notes.trim()),
        Happened::Finished { step, artifacts, .. } => {
            format!("- `{}`: done, artifacts: {}", step.0, artifacts.join(", "))
        }
        Happened::Reported { kind: ReportKind::Fact, report, .. } => {
            format!("- fact: {}", report["fact"].as_str().unwrap_or_default())
        }
        Happened::Noted { step, notes } => format!("- in the middle of `{}`: {}", step.0, notes.trim()),
        Happened::Refused { step, reasons, .. } => {
            let reasons: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
            format!("- `{}` was not accepted: {}", step.0, reasons.join("; "))
        }
        Happened::WorkFinished { step, result } => {
            format!("- `{}` was run: {}", step.0, result["outcome"].as_str().unwrap_or("done"))
        }
        Happened::GateAnswered { gate, verdict, by, words, .. } => {
            format!("- gate {gate}: {verdict:?} by {by} {words}").trim_end().to_owned()
        }
        Happened::Rewound { step, reason, by } => format!("- taken back to `{}` by {by}: {reason}", step.0),
        Happened::Continued { text, .. } => format!("- asked for more: {text}"),
        Happened::Opened { .. }
        | Happened::Pinned { .. }
        | Happened::HandedOut { .. }
        | Happened::VarsChanged { .. }
        | Happened::WorkDue { .. }
        | Happened::WorkStarted { .. }
        | Happened::GateOpened { .. }
        | Happened::GateExpired { .. }
        | Happened::Parked { .. }
        | Happened::Reported { .. }
        | Happened::HandleReissued { .. }
        | Happened::Forked { .. }
        | Happened::Closed { .. }
        | Happened::CheckoutMade { .. }
        | Happened::Snapshotted { .. }
        | Happened::CheckoutRemoved { .. }
        | Happened::WayChosen { .. }
        | Happened::LoopExhausted { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_notes_are_kept_and_the_last_one_is_always_told() {
        let notes = ["old".to_owned(), "middle".to_owned(), "newest".to_owned()];
        assert_eq!(newest(&notes, 12), ["middle", "newest"]);
        assert_eq!(newest(&notes, 100), notes);
        assert_eq!(newest(&notes, 3), ["new…"]);
        assert_eq!(newest(&["äöü".to_owned()], 3), ["ä…"]);
    }
}
