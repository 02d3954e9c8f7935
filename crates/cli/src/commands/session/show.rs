//! `longhaul session show`: what happened in a session, and why.

use std::process::ExitCode;

use longhaul_runtime::{StoryEntry, Telling};
use serde::Serialize;

use super::row::SessionLine;
use super::{find, story};
use crate::context::Context;
use crate::error::CliError;

/// Tell what happened in a session: steps, answers, refusals, gates, work, and what was left behind.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    session: String,

    /// Also what was looked at to choose each step: candidates, conditions with their values, reasons.
    #[arg(long)]
    why: bool,
}

#[derive(Debug, Serialize)]
struct Shown<'a> {
    session: &'a SessionLine,
    /// The sessions that it led to.
    #[serde(skip_serializing_if = "<[SessionLine]>::is_empty")]
    children: &'a [SessionLine],
    story: &'a [StoryEntry],
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, row) = find(&system, &args.session)?;
    let telling = if args.why { Telling::WithReasons } else { Telling::Events };
    let entries = reader.story(&row, telling)?;
    let children = reader.sessions()?.into_iter().filter(|other| other.parent == Some(row.id)).collect();
    let children = SessionLine::with_cassette(&system, children)?;
    let lines = SessionLine::with_cassette(&system, vec![row])?;
    let line = lines.first().expect("a line for each row");
    let text = story::words(line, &children, &entries);
    context.output.text(&text, &Shown { session: line, children: &children, story: &entries })?;
    Ok(ExitCode::SUCCESS)
}
