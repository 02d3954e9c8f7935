//! What happened in a session so far, for somebody who was not there and has little room.

mod meter;

use std::collections::BTreeMap;

use longhaul_events::{NodeId, ReportKind, SessionId};
use serde_json::Value;

pub use meter::{Meter, shortened, tokens};

use crate::commands::Commands;
use crate::commands::walking::{PlanState, PlannedStep};
use crate::error::Error;
use crate::reader::{Artifact, Happened, Reader, StoryEntry, Telling};

/// How many tokens of one var, and of one artifact, are told.
const VAR_TOKENS: usize = 60;
const ARTIFACT_TOKENS: usize = 200;

/// The plan and the notes of a session, within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recap {
    /// Shortened, if it is very long.
    pub goal: String,
    pub plan: Vec<PlannedStep>,
    /// The vars that are set, each with its value, in Markdown.
    pub vars: Vec<String>,
    /// What was noted and handed in, oldest first, in Markdown.
    pub notes: String,
    /// How many notes, the oldest, found no room.
    pub left_out: usize,
}

impl Commands {
    /// Tells what happened, the newest first to be kept when there is not room for all of it. The room is counted in
    /// tokens.
    pub fn recap(&self, reader: &Reader, id: SessionId, room: usize) -> Result<Recap, Error> {
        let row = reader.find_session(&id.to_string())?;
        let story = reader.story(&row, Telling::Events)?;
        let artifacts = reader.artifacts(Some(id))?;
        let goal = shortened(&row.goal, room / 4);
        let plan = fitting(self.plan(id)?, room / 4);
        let vars = self.vars_told(id, room / 4)?;
        let used =
            plan.iter().map(size).chain(vars.iter().map(|line| tokens(line))).sum::<usize>() + tokens(&goal);
        let notes = notes(&story, &artifacts);
        let kept = newest(&notes, room.saturating_sub(used));
        let left_out = notes.len() - kept.len();
        Ok(Recap { goal, plan, vars, notes: kept.join("\n"), left_out })
    }

    /// The goal is told by itself.
    fn vars_told(&self, id: SessionId, room: usize) -> Result<Vec<String>, Error> {
        let session = self.load_session(id)?;
        let (mut told, mut used) = (Vec::new(), 0);
        for (name, content) in session.vars.iter().filter(|(name, _)| *name != "goal") {
            let value = self.shared_value(content)?;
            let line = format!("- {name} = {}", shortened(&value.to_string(), VAR_TOKENS));
            used += tokens(&line);
            if used > room {
                told.push("- …".to_owned());
                break;
            }
            told.push(line);
        }
        Ok(told)
    }
}

fn size(step: &PlannedStep) -> usize {
    tokens(&step.id) + tokens(&step.title)
}

/// What lies behind is dropped first: it is told by the notes.
fn fitting(mut plan: Vec<PlannedStep>, room: usize) -> Vec<PlannedStep> {
    plan.retain(|step| step.state != PlanState::Behind);
    let mut used = 0;
    plan.retain(|step| {
        used += size(step);
        used <= room
    });
    plan
}

/// The newest that fit; one that is too long alone is cut, so that the last word is always there.
fn newest(notes: &[String], room: usize) -> Vec<String> {
    let mut room = room;
    let mut kept = Vec::new();
    for note in notes.iter().rev() {
        let size = tokens(note);
        if size > room {
            if kept.is_empty() {
                kept.push(shortened(note, room));
            }
            break;
        }
        room -= size;
        kept.push(note.clone());
    }
    kept.reverse();
    kept
}

/// What is worth telling. Refusals are told once for each step, and not at all when the step was accepted since.
fn notes(story: &[StoryEntry], artifacts: &[Artifact]) -> Vec<String> {
    let mut refused: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut notes: Vec<(Option<NodeId>, String)> = Vec::new();
    for entry in story.iter().filter(|entry| !entry.left_behind) {
        if let Happened::Finished { node, .. } | Happened::Refused { node, .. } = &entry.what {
            notes.retain(|(of, _)| of.as_ref() != Some(node));
        }
        if let Happened::Refused { node, step, reasons, .. } = &entry.what {
            let times = refused.entry(*node).or_default();
            *times += 1;
            let reasons: Vec<&str> = reasons.iter().map(|reason| reason.message.as_str()).collect();
            let often = if *times > 1 { format!(" {times} times, last") } else { String::new() };
            let note = format!("- `{}` was not accepted{often}: {}", step.0, reasons.join("; "));
            notes.push((Some(*node), note));
        }
        notes.extend(told(entry, artifacts).map(|note| (None, note)));
    }
    notes.into_iter().map(|(_, note)| note).collect()
}

fn told(entry: &StoryEntry, artifacts: &[Artifact]) -> Option<String> {
    Some(match &entry.what {
        Happened::Finished { step, notes, artifacts: ids, .. } => {
            let mut note = format!("- `{}`: {}", step.0, notes.as_deref().map_or("done", str::trim));
            for artifact in artifacts.iter().filter(|artifact| ids.contains(&artifact.id)) {
                note += &handed_in(artifact);
            }
            note
        }
        Happened::Reported { kind: ReportKind::Fact, report, .. } => {
            format!("- fact: {}", report["fact"].as_str().unwrap_or_default())
        }
        Happened::Noted { step, notes, vars } => {
            let vars = vars.iter().map(|(name, value)| format!("\n  {name} = {}", brief(value, VAR_TOKENS)));
            format!("- in the middle of `{}`: {}{}", step.0, notes.trim(), vars.collect::<String>())
        }
        Happened::WorkFinished { step, result } => {
            format!("- `{}` was run: {}", step.0, result["outcome"].as_str().unwrap_or("done"))
        }
        Happened::GateAnswered { gate, verdict, by, words, .. } => {
            let said = if words.trim().is_empty() { String::new() } else { format!(": {}", words.trim()) };
            format!("- gate {gate}: {verdict:?} by {by}{said}")
        }
        Happened::Rewound { step, reason, by } => format!("- taken back to `{}` by {by}: {reason}", step.0),
        Happened::Continued { text, .. } => format!("- asked for more: {text}"),
        Happened::Opened { .. }
        | Happened::Refused { .. }
        | Happened::Pinned { .. }
        | Happened::HandedOut { .. }
        | Happened::VarsChanged { .. }
        | Happened::WorkDue { .. }
        | Happened::WorkStarted { .. }
        | Happened::GateOpened { .. }
        | Happened::GateExpired { .. }
        | Happened::Parked { .. }
        | Happened::Unparked { .. }
        | Happened::StopRequested { .. }
        | Happened::Reported { .. }
        | Happened::Agent { .. }
        | Happened::HandleReissued { .. }
        | Happened::Forked { .. }
        | Happened::Closed { .. }
        | Happened::CheckoutMade { .. }
        | Happened::Snapshotted { .. }
        | Happened::CheckoutRemoved { .. }
        | Happened::Delivery { .. }
        | Happened::WayChosen { .. }
        | Happened::Decided(_)
        | Happened::LoopExhausted { .. } => return None,
    })
}

fn handed_in(artifact: &Artifact) -> String {
    let kind = artifact.kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
    format!("\n  artifact {}{kind}: {}", artifact.id, brief(&artifact.value, ARTIFACT_TOKENS))
}

fn brief(value: &Value, most_tokens: usize) -> String {
    shortened(&value.to_string(), most_tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_notes_are_kept_and_the_last_one_is_always_told() {
        let notes = ["old".to_owned(), "one two".to_owned(), "the new one".to_owned()];
        assert_eq!(newest(&notes, 5), ["one two", "the new one"]);
        assert_eq!(newest(&notes, 100), notes);
        assert_eq!(newest(&notes, 2), ["the new…"]);
    }
}
