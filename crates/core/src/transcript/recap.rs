//! What stands for turns that are told no more. It is made of what is on record beside them, not of what was said.

use std::fmt::Write as _;

use longhaul_events::{Content, ReportKind};
use serde_json::Value;

use super::messages::prompt_text;
use super::outline::{CurrentStep, DoneStep, Report, Touched, path};
use super::{Entry, Read, Shortening, Told, Transcript, Unread, clipped, in_words};

const HEAD: &str = "\
# What happened so far

The conversation grew too long, and this stands for its older part. It is from the record of the session. What you need \
beyond it, look up again: files, `git diff`, artifacts.";
/// Not even among hundreds is anything told in less than this.
const SHORTEST: usize = 120;
const MOST_FILES: usize = 300;
const LONGEST_VALUE: usize = 400;

impl Transcript {
    /// The words in the place of what a shortening takes away, in about so many bytes beside the text of the step.
    pub fn recap(&self, plan: &Shortening, most: u64, read: Read<'_>) -> Result<String, Unread> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let outline = &self.outline;
        let mut text = HEAD.to_owned();
        if let Some(goal) = &outline.goal {
            add(&mut text, "Goal", &clipped(in_words(read(goal)?).trim(), most / 4));
        }
        let done = each(&outline.done, |done| handed_in(done, read))?;
        add(&mut text, "Steps that are done, and what was handed in", &shared(done, most / 2));
        let reports = each(&outline.reports, |report| reported(report, read))?;
        add(&mut text, "Put on record", &shared(reports, most / 4));
        let words =
            each(&outline.words, |said| Ok(format!("- {}: {}", said.by, in_words(read(&said.said)?))))?;
        add(&mut text, "What people said", &shared(words, most / 4));
        let vars = outline.vars.iter().map(|(name, value)| var(name, value, read));
        let vars = vars.collect::<Result<Vec<_>, Unread>>()?;
        add(&mut text, "Vars", &shared(vars, most / 8));
        add(&mut text, "Files that you wrote or edited", &self.files(read)?);
        if let Some(current) = &outline.current {
            self.tell_current(&mut text, current, plan, read)?;
        }
        Ok(text)
    }

    fn files(&self, read: Read<'_>) -> Result<String, Unread> {
        let mut files: Vec<String> = Vec::new();
        for touch in &self.outline.touched {
            let file = match touch {
                Touched::Path(path) => path.clone(),
                Touched::Arguments(arguments) => path(&read(arguments)?),
            };
            if !files.contains(&file) {
                files.push(file);
            }
        }
        if files.is_empty() {
            return Ok(String::new());
        }
        let more = files.len().saturating_sub(MOST_FILES);
        let mut lines: Vec<String> = files.drain(more..).map(|file| format!("- {file}")).collect();
        if more > 0 {
            lines.push(format!("- and {more} before them"));
        }
        lines.push("\nCommands may have changed others: `git status` shows them.".to_owned());
        Ok(lines.join("\n"))
    }

    fn tell_current(
        &self,
        text: &mut String,
        current: &CurrentStep,
        plan: &Shortening,
        read: Read<'_>,
    ) -> Result<(), Unread> {
        let refused =
            current.refused.iter().map(|reason| format!("- {} Fix: {}", reason.message, reason.fix));
        add(text, "Refused when you last handed this step in", &refused.collect::<Vec<_>>().join("\n"));
        if let Some(notes) = &current.notes {
            add(text, "Your notes from the middle of this step", &in_words(read(notes)?));
        }
        if let Some(words) = &current.first_words {
            let words = in_words(read(words)?);
            add(text, "What you set out with at this step", &clipped(words.trim(), 4 * LONGEST_VALUE));
        }
        if self.loses_step(plan) {
            let heading = format!("The step that is out: `{}`", current.step);
            add(text, &heading, &prompt_text(&read(&current.prompt)?));
        }
        Ok(())
    }

    /// Whether the text of the step that is out is among what goes.
    fn loses_step(&self, plan: &Shortening) -> bool {
        let Some((out, prompt)) = self.step_out() else { return false };
        let is_gone = |entry: &Entry| entry.turn().is_some_and(|turn| turn.ordinal <= plan.turns_until);
        let kept = self.entries.iter().rposition(is_gone).map_or(0, |last| last + 1);
        let is_it = |entry: &Entry| matches!(entry, Entry::Told { words: Told::Step { step, prompt: text }, .. } if step == out && text == prompt);
        !self.entries[kept..].iter().any(is_it)
    }
}

fn add(text: &mut String, heading: &str, body: &str) {
    if !body.trim().is_empty() {
        let _ = write!(text, "\n\n## {heading}\n\n{}", body.trim_end());
    }
}

fn each<Item>(items: &[Item], tell: impl Fn(&Item) -> Result<String, Unread>) -> Result<Vec<String>, Unread> {
    items.iter().map(tell).collect()
}

fn handed_in(done: &DoneStep, read: Read<'_>) -> Result<String, Unread> {
    let payload = read(&done.payload)?;
    let mut text = format!("### `{}`\n", done.step);
    let notes = ["notes", "notesMarkdown"].iter().find_map(|name| payload[*name].as_str());
    let notes = notes.or_else(|| payload["output"]["notesMarkdown"].as_str());
    if let Some(notes) = notes {
        let _ = write!(text, "\n{}\n", notes.trim());
    }
    for artifact in payload["artifacts"].as_array().into_iter().flatten() {
        let _ = write!(text, "\nArtifact: {artifact}\n");
    }
    Ok(text)
}

fn reported(report: &Report, read: Read<'_>) -> Result<String, Unread> {
    let value = read(&report.value)?;
    let words = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    Ok(match report.kind {
        ReportKind::Fact => format!("- fact: {} ({})", words("fact"), words("evidence")),
        ReportKind::Issue => format!("- issue: {}", words("summary")),
        ReportKind::WorkflowBug => format!("- mistake in the workflow: {}", words("summary")),
        ReportKind::Question => format!("- question that nobody answered: {}", words("question")),
        ReportKind::HostRefused => format!("- cannot be reached: {}", short(&value)),
        ReportKind::Artifact => format!("- artifact `{}`, kept; read_artifact shows it", words("name")),
    })
}

fn var(name: &str, value: &Content, read: Read<'_>) -> Result<String, Unread> {
    Ok(format!("- {name} = {}", short(&read(value)?)))
}

fn short(value: &Value) -> String {
    clipped(&value.to_string(), LONGEST_VALUE)
}

/// All of them, the longer ones cut so that it is about so many bytes. Where there are too many for that, those in the middle
/// go: a plan is made at the beginning, and the newest is what one stands on.
fn shared(mut items: Vec<String>, most: usize) -> String {
    let fitting = (most / SHORTEST).max(2);
    if items.len() > fitting {
        let (first, last) = (fitting / 2, fitting - fitting / 2);
        let gone = items.len() - first - last;
        items.splice(first..first + gone, [format!("- ({gone} more in between are left out)")]);
    }
    let share = fair_share(items.iter().map(String::len).collect(), most);
    let cut: Vec<String> = items.iter().map(|item| clipped(item.trim_end(), share)).collect();
    cut.join("\n")
}

/// The length to which all are cut, so that those that are short leave their room to the others.
fn fair_share(mut lengths: Vec<usize>, most: usize) -> usize {
    lengths.sort_unstable();
    let (mut left, mut others) = (most, lengths.len());
    for length in lengths {
        let share = left / others.max(1);
        if length > share {
            return share.max(SHORTEST);
        }
        left -= length;
        others -= 1;
    }
    usize::MAX
}
