//! `longhaul await`: waits for sessions, for people's own coordinators.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use longhaul_runtime::types::{Outcome, SessionRow, parse_duration_ms};
use longhaul_runtime::{Awaited, Error, Reader};
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::output::Row;

/// Wait until sessions go no further by themselves; tell how each came out, and its typed result.
///
/// It exits with 0 if all of them are completed, and with 3 if one is not, or time is up.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The sessions or tasks, or the beginnings of their ids. A task stands for the session of its newest attempt.
    #[arg(value_name = "SESSION|TASK", required = true)]
    sessions: Vec<String>,

    /// How long to wait for all of them, such as `90s` or `2h`; as long as it takes unless given.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration_ms(text).map(Duration::from_millis).map_err(|error| error.to_string())
}

#[derive(Debug, Serialize)]
struct AwaitedLine {
    session: String,
    /// None: it was still at work when time was up.
    outcome: Option<Outcome>,
    result: Value,
}

impl From<Awaited> for AwaitedLine {
    fn from(awaited: Awaited) -> Self {
        let Awaited { session, outcome, result } = awaited;
        Self { session: session.to_string(), outcome, result }
    }
}

impl Row for AwaitedLine {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let outcome = self.outcome.as_ref().map_or("still at work", Outcome::word).to_owned();
        let result = if self.result.is_null() { "-".to_owned() } else { self.result.to_string() };
        vec![("SESSION", self.session.clone()), ("OUTCOME", outcome), ("RESULT", result)]
    }

    fn note(&self) -> Option<String> {
        let is_plain = matches!(self.outcome, None | Some(Outcome::Completed { .. }));
        self.outcome.as_ref().filter(|_| !is_plain).map(ToString::to_string)
    }
}

/// A task stands for the session of its newest attempt.
fn meant(reader: &Reader, text: &str) -> Result<SessionRow, Error> {
    if !text.starts_with("t-") {
        return reader.find_session(text);
    }
    let task = reader.find_task(text)?;
    task.root.ok_or_else(|| Error::NoSuchSession(text.to_owned()))
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let until = args.timeout.map(|timeout| Instant::now() + timeout);
    let reader = system.reader()?.ok_or_else(|| Error::NoSuchSession(args.sessions[0].clone()))?;
    // All of them are looked up before one is waited for.
    let rows: Result<Vec<_>, Error> = args.sessions.iter().map(|text| meant(&reader, text)).collect();
    let commands = system.commands()?;
    let mut awaited = Vec::new();
    for row in rows? {
        awaited.push(AwaitedLine::from(system.await_session(&commands, row.id, until)?));
    }
    let all_done = awaited.iter().all(|one| matches!(one.outcome, Some(Outcome::Completed { .. })));
    context.output.rows(&awaited)?;
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}
