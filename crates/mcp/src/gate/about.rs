//! What a person should know before they decide: the same as at a terminal, shortened to what a window shows.

use longhaul_runtime::terminal::visible;
use longhaul_runtime::{Clock as _, Error, Reader, SystemClock, shortened};

/// How many tokens the notes have, and each var and artifact.
const NOTES_TOKENS: usize = 600;
const VALUE_TOKENS: usize = 150;
const GOAL_TOKENS: usize = 150;
const QUESTION_TOKENS: usize = 1_000;
/// How many vars and how many artifacts are told.
const MOST_TOLD: usize = 12;

pub(super) fn gate(reader: &Reader, id: &str) -> Result<String, Error> {
    let gate = reader.gate(id, SystemClock.now())?;
    let workflow = gate.workflow.as_deref().unwrap_or("-");
    let mut lines = vec![
        format!("Gate of `{workflow}`, step `{}`", gate.step),
        format!("Goal: {}", shortened(&gate.goal, GOAL_TOKENS)),
    ];
    if let Some(before) = &gate.before {
        lines.push(format!("Before it, `{}` was answered:", before.step));
        lines.extend(before.notes.iter().map(|notes| shortened(notes, NOTES_TOKENS)));
        let vars = before
            .vars
            .iter()
            .map(|(name, value)| format!("{name} = {}", shortened(&value.to_string(), VALUE_TOKENS)));
        lines.extend(some(vars.collect()));
        let artifacts = before
            .artifacts
            .iter()
            .map(|one| format!("artifact {}: {}", one.id, shortened(&one.value.to_string(), VALUE_TOKENS)));
        lines.extend(some(artifacts.collect()));
    }
    lines.push(String::new());
    lines.push(shortened(gate.question.trim_end(), QUESTION_TOKENS));
    let lines = lines.iter().flat_map(|text| text.split('\n')).map(visible);
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn some(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_TOLD);
    lines.truncate(MOST_TOLD);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    lines
}
