//! What happens in the demo, a line for each step of its pipeline.

use std::time::Instant;

use longhaul_runtime::types::SessionId;
use longhaul_runtime::{Commands, Error, Happened, Reader, StoryTail};
use serde_json::Value;

use crate::error::CliError;

/// The longest line that a step is told in.
const WIDEST: usize = 100;

/// Somebody who tells the story while it happens.
pub(super) struct Telling {
    reader: Reader,
    tail: StoryTail,
    began: Instant,
    /// The step of the engine's own that is under way.
    at: Option<String>,
}

impl Telling {
    pub(super) fn of(commands: &Commands, session: SessionId, began: Instant) -> Result<Self, CliError> {
        let reader = commands.reader().ok_or(Error::UnknownSession(session))?;
        Ok(Self { reader, tail: StoryTail::of(session), began, at: None })
    }

    pub(super) fn at(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// Says what happened since it was last asked. What cannot be read now is told later.
    pub(super) fn tell(&mut self, mut say: impl FnMut(&str)) {
        let Ok(entries) = self.reader.tell_more(&mut self.tail) else { return };
        for entry in entries {
            if let Happened::WorkStarted { step, .. } = &entry.what {
                self.at = Some(step.0.clone());
            }
            if let Some((step, told)) = told(&entry.what) {
                let seconds = self.began.elapsed().as_secs_f64();
                let line = format!("{seconds:5.1} s  {step:<14} {told}");
                say(&line.chars().take(WIDEST).collect::<String>());
            }
        }
    }
}

/// The step, and what came of it.
fn told(what: &Happened) -> Option<(&str, String)> {
    match what {
        Happened::WorkFinished { step, result } => Some((&step.0, result_in_words(result))),
        Happened::Decided(ruled) => Some((&ruled.step.0, format!("{}: {}", ruled.decision, ruled.because))),
        Happened::Delivery { step, act, is_done: true, .. } => Some((&step.0, format!("done: {act}"))),
        Happened::GateOpened { step, question, .. } => Some((&step.0, format!("asks a person: {question}"))),
        Happened::Parked { step, reasons } => {
            Some((&step.0, reasons.first().map(|reason| reason.message.clone()).unwrap_or_default()))
        }
        _ => None,
    }
}

fn result_in_words(result: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(children) = result["children"].as_array() {
        let told: Vec<String> = children
            .iter()
            .map(|child| {
                let found = child["result"]["findings"].as_array().map(|findings| match findings.len() {
                    0 => "no findings".to_owned(),
                    _ => findings
                        .iter()
                        .filter_map(|found| found["severity"].as_str())
                        .collect::<Vec<_>>()
                        .join(", "),
                });
                let said =
                    found.or_else(|| text(&child["result"]["summary"])).or_else(|| text(&child["outcome"]));
                let name = child["workflow"].as_str().unwrap_or_default();
                format!("{}: {}", name.rsplit('.').next().unwrap_or(name), said.unwrap_or_default())
            })
            .collect();
        return told.join("; ");
    }
    if let Some(checks) = result["checks"].as_array() {
        let told: Vec<String> = checks
            .iter()
            .map(|check| {
                format!(
                    "{} {}",
                    check["name"].as_str().unwrap_or_default(),
                    check["outcome"].as_str().unwrap_or_default()
                )
            })
            .collect();
        return format!("on the merge result: {}", told.join(", "));
    }
    let change = &result["value"];
    if let (Some(files), Some(lines)) = (change["files"].as_array(), change["lines"].as_u64()) {
        return format!("changed as git sees it: files {}, lines {lines}", files.len());
    }
    text(&result["value"]["outcome"])
        .or_else(|| text(&result["outcome"]))
        .unwrap_or_else(|| "done".to_owned())
}
