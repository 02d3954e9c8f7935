//! `longhaul logs`: what our processes wrote down while nobody looked.

use std::process::ExitCode;
use std::time::Duration;

use longhaul_runtime::types::Timestamp;
use longhaul_runtime::{KEPT_DAYS, Level, LogQuery, LogRow};
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::Row;
use crate::words::one_of;

/// How soon somebody who follows sees a line.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Show what was done while nobody looked, line by line, in the order of time.
///
/// These lines are for finding out why something went as it did; what was decided is in `longhaul log` and
/// `longhaul session show`. They are kept for 14 days, and no more than 256 MB of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only lines about this session and those below it.
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Only lines about this task and its sessions.
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Only lines about this trigger.
    #[arg(long, value_name = "ID")]
    trigger: Option<String>,

    /// Only lines that are this grave, or graver.
    #[arg(long, value_name = "LEVEL", value_parser = one_of(Level::WORDS))]
    level: Option<Level>,

    /// Only lines since then: a date such as `2026-11-01`, or how long ago, such as `2h`.
    #[arg(long, value_name = "WHEN", value_parser = moment::since)]
    since: Option<Timestamp>,

    /// Go on with new lines as they are written, until interrupted.
    #[arg(long, short)]
    follow: bool,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Line(Value);

impl Row for Line {
    const WIDTHS: &'static [usize] = &[19, 5, 15, 15];

    fn cells(&self) -> Vec<(&'static str, String)> {
        let row = LogRow(self.0.clone());
        let about =
            ["session", "trigger", "task"].map(|name| row.text(name)).into_iter().find(|id| !id.is_empty());
        let said: Vec<String> = std::iter::once(row.text("message").to_owned()).chain(row.fields()).collect();
        vec![
            ("TIME", moment::shown(row.text("time"))),
            ("LEVEL", row.text("level").to_owned()),
            ("ABOUT", about.unwrap_or("-").to_owned()),
            ("PROCESS", row.text("process").to_owned()),
            ("MESSAGE", said.join("  ").replace('\n', "\\n")),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let Args { session, task, trigger, level, since, .. } = args;
    let (session, task, trigger) = (session.clone(), task.clone(), trigger.clone());
    let mut lines =
        context.system()?.logs(&LogQuery { session, task, trigger, level: *level, since: *since })?;
    let first = lines.more()?;
    if first.is_empty() {
        let folder = lines.folder().display();
        let which = if lines.is_empty() {
            format!("there are no lines yet; runners write them to `{folder}`")
        } else {
            format!("no line fits; those of the last {KEPT_DAYS} days are in `{folder}`")
        };
        let then = if args.follow { "; waiting for one" } else { "" };
        context.output.say(&format!("{which}{then}"));
    }
    let mut table = context.output.table();
    first.into_iter().try_for_each(|row| table.show(&Line(row.0)))?;
    context.output.flush()?;
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK_EVERY);
        lines.more()?.into_iter().try_for_each(|row| table.show(&Line(row.0)))?;
        context.output.flush()?;
    }
}
