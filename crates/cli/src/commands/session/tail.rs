//! `longhaul session tail`: one session while it goes on, a line for each thing that happens.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use longhaul_runtime::types::{CallOutcome, ReportKind, SessionId};
use longhaul_runtime::{AgentDid, Error, Happened, Reader, StoryEntry, StoryTail, ToldCall};
use serde_json::Value;

use super::{find, story};
use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::{Format, lines};
use crate::worked;

/// Only bounds how long one wait lasts; the next begins at once.
const WAIT: Duration = Duration::from_hours(1);
/// How much of a text fits on a line.
const MOST_LETTERS: usize = 100;

/// Show what happens in a session as it happens: steps, turns, calls, gates. It ends when the session does.
///
/// `--json` gives one object for each thing that happens, as in the story of `longhaul session show --json`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// Go on until the session ends, which is what happens unless told otherwise.
    #[arg(long, overrides_with = "no_follow")]
    follow: bool,

    /// Show only what has happened so far.
    #[arg(long, overrides_with = "follow")]
    no_follow: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let (reader, row) = find(&context.system()?, &args.session)?;
    // The watch begins before the first look, so that nothing falls in between.
    let mut watch = reader.tail()?;
    let mut showing = Showing::of(row.id);
    loop {
        let new = showing.more(&reader)?;
        for entry in &new.entries {
            match context.output.format() {
                Format::Json => context.output.text("", entry)?,
                Format::Table => {
                    let line = showing.line(entry);
                    context.output.data().write_all(line.as_bytes()).map_err(Error::Show)?;
                }
            }
        }
        context.output.flush()?;
        if new.is_over || args.no_follow {
            return Ok(ExitCode::SUCCESS);
        }
        watch.wait(WAIT)?;
    }
}

/// What came since the last look.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) entries: Vec<StoryEntry>,
    pub(crate) is_over: bool,
}

/// A session that is being shown.
#[derive(Debug)]
pub(crate) struct Showing {
    tail: StoryTail,
    /// The calls of the newest turn, to say what a result is of.
    calls: BTreeMap<u32, String>,
}

impl Showing {
    pub(crate) fn of(session: SessionId) -> Self {
        Self { tail: StoryTail::of(session), calls: BTreeMap::new() }
    }

    /// What is new, and whether the session is over.
    pub(crate) fn more(&mut self, reader: &Reader) -> Result<New, CliError> {
        let entries = reader.tell_more(&mut self.tail)?;
        let ends = |what: &Happened| matches!(what, Happened::Closed { .. });
        let goes_on = |what: &Happened| matches!(what, Happened::Continued { .. } | Happened::Forked { .. });
        let last = entries.iter().map(|entry| &entry.what).rfind(|what| ends(what) || goes_on(what));
        let is_over = last.is_some_and(ends);
        Ok(New { entries, is_over })
    }

    /// One line, or none for what nobody waits for.
    pub(crate) fn line(&mut self, entry: &StoryEntry) -> String {
        let Some(words) = self.words(&entry.what) else { return String::new() };
        lines(&format!("{}  {}", moment::shown(&entry.at), words.replace('\n', " ")), "")
    }

    fn words(&mut self, what: &Happened) -> Option<String> {
        match what {
            Happened::Pinned { .. }
            | Happened::VarsChanged { .. }
            | Happened::Snapshotted { .. }
            | Happened::Agent {
                act: AgentDid::CallStarted { .. } | AgentDid::Requested { .. } | AgentDid::Billed { .. },
                ..
            } => None,
            Happened::Opened { goal } => Some(format!("goal: {}", first_line(goal))),
            Happened::HandedOut { step, title, .. } => Some(format!("step `{step}`: {title}")),
            Happened::Finished { step, notes, .. } => {
                let notes = notes.as_deref().map(|notes| format!(": {}", first_line(notes)));
                Some(format!("step `{step}` is done{}", notes.unwrap_or_default()))
            }
            Happened::Agent { act: AgentDid::Answered { turn, said, calls, usage, .. }, .. } => {
                self.calls = (0..).zip(calls.iter().map(call)).collect();
                let said = if said.is_empty() { "(nothing said)".to_owned() } else { first_line(said) };
                Some(format!("turn {turn}: {said}  [{} in, {} out]", usage.input, usage.output))
            }
            Happened::Agent {
                act: AgentDid::CallFinished { call, tool, outcome, exit, result, ms, .. },
                ..
            } => {
                let call = self.calls.get(call).unwrap_or(tool);
                let end = exit
                    .map_or_else(|| story::call_outcome(*outcome).to_owned(), |exit| format!("exit {exit}"));
                // Why is what whoever watches wants to know, and all of it.
                let why = match outcome {
                    CallOutcome::Refused => format!(": {}", result.trim()),
                    CallOutcome::Done | CallOutcome::Interrupted | CallOutcome::Stopped => String::new(),
                };
                Some(format!("  {call}: {end}, {ms} ms{why}"))
            }
            Happened::WorkStarted { step, .. } => Some(format!("`{step}` is being done")),
            Happened::WorkFinished { step, result } => {
                let outcome = result["outcome"].as_str().unwrap_or("done");
                let words = worked::in_words(result);
                let because = result["because"].as_str().unwrap_or_default();
                let more = if words.is_empty() || words == outcome { because } else { &words };
                let more = if more.is_empty() { String::new() } else { format!(": {}", first_line(more)) };
                Some(format!("`{step}` ended: {outcome}{more}"))
            }
            Happened::Refused { reasons, .. } | Happened::Parked { reasons, .. } => {
                let (line, _) = story::told(what);
                let reasons: Vec<String> = reasons.iter().map(story::reason).collect();
                Some(format!("{line} {}", reasons.join(" ")))
            }
            Happened::Reported { kind: ReportKind::HostRefused, .. } => {
                let (line, more) = story::told(what);
                Some(format!("{line}: {}", more.join(" ")))
            }
            // Everything else is told as in the whole story, with the first of what stands below it.
            other => {
                let (line, more) = story::told(other);
                Some(more.first().map_or(line.clone(), |more| format!("{line}: {}", first_line(more))))
            }
        }
    }
}

/// A call by its tool and what it is about.
fn call(call: &ToldCall) -> String {
    let about =
        ["path", "pattern", "command", "notes"].iter().find_map(|name| call.arguments[*name].as_str());
    let fallback = match &call.arguments {
        Value::Object(fields) if fields.is_empty() => String::new(),
        other => other.to_string(),
    };
    let about = about.map_or(fallback, str::to_owned);
    format!("{} {}", call.tool, first_line(&about)).trim_end().to_owned()
}

fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let line = lines.next().unwrap_or_default();
    let mut short: String = line.chars().take(MOST_LETTERS).collect();
    if short.len() < line.len() || lines.next().is_some() {
        short.push('…');
    }
    short
}
