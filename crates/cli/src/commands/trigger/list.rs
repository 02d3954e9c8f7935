//! `longhaul trigger list`: every trigger that can be seen from here.

use std::process::ExitCode;

use longhaul_runtime::Clock as _;
use longhaul_runtime::control::OnRecord;
use longhaul_runtime::triggers::{TriggerEntry, TriggerState};
use longhaul_runtime::types::{Start, rfc3339};
use serde::Serialize;

use crate::commands::task::age;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// List the triggers of this repository and your own, and when each is due next.
///
/// STATE is `ok`; `off` if it is switched off; `untrusted` if nobody trusts its repository as it is now; `invalid` if its
/// file has errors; `unserved` if it is of a kind that this release does not serve. Only what is `ok` begins tasks.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show those of all registered repositories.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
struct TriggerRow {
    id: String,
    workspace: String,
    state: &'static str,
    start: &'static str,
    /// The pattern and zone of a schedule, the header of a webhook.
    on: String,
    next: Option<String>,
    pipeline: Option<String>,
    /// When something last came of it, and how often what did.
    last_at: Option<String>,
    last_task: Option<String>,
    tasks: u64,
    duplicates: u64,
    not_wanted: u64,
    refused: u64,
    skipped: u64,
    file: String,
    line: usize,
    #[serde(skip)]
    last_ms: Option<u64>,
    #[serde(skip)]
    next_local: String,
}

impl TriggerRow {
    fn of(entry: &TriggerEntry<'_>, record: Option<OnRecord>) -> Self {
        let trigger = entry.trigger();
        let counts = record.map(|record| record.counts).unwrap_or_default();
        let now = longhaul_runtime::SystemClock.now();
        let (on, next) = match &trigger.start {
            Start::Schedule(schedule) => {
                let next = schedule.upcoming(now, 1).into_iter().next();
                (format!("{} {}", schedule.cron, schedule.zone.name()), next)
            }
            Start::Webhook(webhook) => (webhook.header.clone(), None),
            Start::Hand => ("only by hand".to_owned(), None),
            Start::Github => (String::new(), None),
        };
        let next = next.filter(|_| entry.state() == TriggerState::Ok);
        Self {
            id: trigger.id.clone(),
            workspace: entry.placed.workspace_name.clone(),
            state: entry.state().word(),
            start: trigger.start.word(),
            on,
            next_local: next
                .as_ref()
                .map_or_else(|| "-".to_owned(), |next| format!("{} ({})", next.local, next.wait)),
            next: next.map(|next| rfc3339(next.at)),
            pipeline: trigger.work.pipeline.clone(),
            last_at: record.map(|record| rfc3339(record.last_at)),
            last_task: record.and_then(|record| record.last_task).map(|task| task.to_string()),
            tasks: counts.tasks,
            duplicates: counts.duplicates,
            not_wanted: counts.not_wanted,
            refused: counts.refused,
            skipped: counts.skipped,
            last_ms: record.map(|record| now.since_ms(record.last_at)),
            file: entry.file.path.clone(),
            line: entry.placed.line,
        }
    }
}

impl Row for TriggerRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ID", self.id.clone()),
            ("WORKSPACE", self.workspace.clone()),
            ("STATE", self.state.to_owned()),
            ("START", self.start.to_owned()),
            ("ON", self.on.clone()),
            ("LAST", self.last_ms.map_or_else(|| "-".to_owned(), age)),
            ("TASKS", self.tasks.to_string()),
            ("NEXT", self.next_local.clone()),
        ]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let triggers = if args.all { system.all_triggers()? } else { system.triggers()? };
    let records = system.reader()?.map(|reader| reader.trigger_records()).transpose()?.unwrap_or_default();
    let row = |entry: TriggerEntry<'_>| TriggerRow::of(&entry, entry.recorded(&records));
    let rows: Vec<TriggerRow> = triggers.entries().map(row).collect();
    context.output.rows(&rows)?;
    for problem in &triggers.problems {
        context.output.say(&format!("not all could be looked at: {problem}"));
    }
    if triggers.files.iter().any(longhaul_runtime::triggers::TriggerFile::has_errors) {
        context
            .output
            .say("a file has errors, so nothing of it begins a task; see `longhaul trigger validate`");
    }
    if triggers.files.iter().any(|file| !file.trusted) {
        context.output.say("what is untrusted begins no task; look at it and run `longhaul workspace trust`");
    }
    if rows.is_empty() {
        context.output.say("there is none; `longhaul trigger add` shows templates to begin with");
    }
    Ok(ExitCode::SUCCESS)
}
