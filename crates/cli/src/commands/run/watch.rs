//! Watching a run: on a terminal one picture that is drawn again in its place, elsewhere a line for each event.

use std::collections::BTreeMap;
use std::io::Write as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use longhaul_runtime::types::stats::{self, Run};
use longhaul_runtime::types::{Now, SessionId};
use longhaul_runtime::{Clock as _, Commands, Error, ProgressTail, Reader, SystemClock, terminal};

use super::frame::{Picture, frame};
use crate::commands::session::tail::Showing;
use crate::error::CliError;

/// A session that somebody watches. What goes wrong with that must not get in the way of the run.
#[derive(Debug)]
pub(super) struct Watch {
    reader: Reader,
    how: How,
    /// What is on record of earlier runs, as of when somebody began to watch.
    runs: Vec<Run>,
}

#[derive(Debug)]
enum How {
    Picture { bar: ProgressBar, tail: ProgressTail },
    Lines(Lines),
}

/// A line for each thing that happens, in a session and in those that it leads to.
#[derive(Debug)]
struct Lines {
    own: Showing,
    /// Knows of those.
    tail: ProgressTail,
    below: BTreeMap<SessionId, Showing>,
}

impl Watch {
    pub(super) fn start(commands: &Commands, session: SessionId) -> Result<Self, CliError> {
        let reader = commands.reader().ok_or(Error::UnknownSession(session))?;
        let how = if terminal::room_of_stderr().is_some() && can_move_the_cursor() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(ProgressStyle::with_template("{msg}").expect("it is well formed"));
            How::Picture { bar, tail: ProgressTail::of(session) }
        } else {
            let (own, tail) = (Showing::of(session), ProgressTail::of(session));
            How::Lines(Lines { own, tail, below: BTreeMap::new() })
        };
        // Without them nothing is said of what is left.
        let runs = reader.runs().unwrap_or_default();
        Ok(Self { reader, how, runs })
    }

    pub(super) fn look(&mut self) {
        match &mut self.how {
            How::Picture { bar, tail } => {
                if let Some(lines) = picture(&self.reader, tail, &self.runs) {
                    bar.set_message(lines.join("\n"));
                    bar.tick();
                }
            }
            How::Lines(lines) => say_all(lines, &self.reader),
        }
    }

    /// Takes the picture away and leaves the last one as plain lines, so that the terminal is as it was.
    pub(super) fn end(mut self) {
        self.look();
        if let How::Picture { bar, tail } = &mut self.how {
            bar.finish_and_clear();
            let lines = picture(&self.reader, tail, &self.runs).unwrap_or_default();
            // Nobody can be told that standard error is gone.
            let _ = std::io::stderr().write_all(lines.join("\n").as_bytes());
            let _ = std::io::stderr().write_all(b"\n");
        }
    }
}

/// Some terminals only print.
fn can_move_the_cursor() -> bool {
    std::env::var_os("TERM").is_some_and(|kind| kind != "dumb")
}

fn picture(reader: &Reader, tail: &mut ProgressTail, runs: &[Run]) -> Option<Vec<String>> {
    reader.update_progress(tail).ok()?;
    let room = terminal::room_of_stderr()?;
    let (goal, progress, below, spent) = (&tail.goal, &tail.progress, &tail.below, tail.spent());
    let goes_on = !matches!(progress.now, Now::Over { .. });
    let workflow = tail.workflow.as_ref().filter(|_| goes_on);
    let left = workflow.and_then(|workflow| stats::estimate(workflow, tail.worked.ms(), runs));
    Some(frame(&Picture { goal, progress, below, spent, left, now: SystemClock.now(), room }))
}

fn say_all(lines: &mut Lines, reader: &Reader) {
    say_more(&mut lines.own, reader, "");
    if reader.update_progress(&mut lines.tail).is_err() {
        return;
    }
    say_below(&lines.tail, &mut lines.below, reader, "  ");
}

fn say_below(tail: &ProgressTail, known: &mut BTreeMap<SessionId, Showing>, reader: &Reader, indent: &str) {
    for below in &tail.below {
        let session = below.tail.session();
        let showing = known.entry(session).or_insert_with(|| Showing::of(session));
        say_more(showing, reader, &format!("{indent}{}: ", terminal::visible(&below.workflow)));
        say_below(&below.tail, known, reader, &format!("{indent}  "));
    }
}

fn say_more(showing: &mut Showing, reader: &Reader, before: &str) {
    let Ok(new) = showing.more(reader) else { return };
    let said: String = new.entries.iter().map(|entry| showing.line(entry)).collect();
    let lines: String = said.lines().flat_map(|line| [before, line, "\n"]).collect();
    let _ = std::io::stderr().write_all(lines.as_bytes());
}
