//! `longhaul queue list`: what waits, in which order, and why.

use std::process::ExitCode;

use longhaul_web::Client;
use longhaul_web::rows::QueueRow;
use serde::Serialize;

use super::control;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// List the tasks that wait for their turn, whoever is first at the top, and say why each waits.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct QueueLine(pub(super) QueueRow);

impl Row for QueueLine {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Self(row) = self;
        let first_line = row.goal.lines().next().unwrap_or_default().to_owned();
        vec![
            ("RANK", row.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())),
            ("ID", row.id.clone()),
            ("PRIORITY", row.priority.clone()),
            ("AGE", super::super::task::age(row.age_ms)),
            ("WAITS", row.waits_for.clone()),
            ("SOURCE", row.source.clone()),
            ("GOAL", first_line),
        ]
    }

    fn note(&self) -> Option<String> {
        let because = self.0.because.as_ref().map(|because| format!(" ({because})")).unwrap_or_default();
        Some(format!("{}{because}", self.0.waits))
    }
}

pub(crate) fn run(context: &Context, _: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    // Only whoever starts them knows why they wait.
    let rows: Vec<QueueRow> = match Client::find(&system.places().control_socket()) {
        Some(daemon) => daemon.get("/v1/queue")?,
        None => match system.existing_commands()? {
            Some(commands) => {
                let now = commands.now();
                let tasks = control(&system, &commands).queue(None)?;
                tasks.iter().map(|task| QueueRow::of(task, now)).collect()
            }
            None => Vec::new(),
        },
    };
    let rows: Vec<QueueLine> = rows.into_iter().map(QueueLine).collect();
    context.output.rows(&rows)?;
    if let Some(commands) = system.existing_commands()? {
        let service = commands.service()?;
        if let Some(pause) = &service.paused {
            let because = pause.because.as_ref().map(|because| format!(": {because}")).unwrap_or_default();
            context.output.say(&format!(
                "the queue is paused by {}{because}; `longhaul queue resume` goes on",
                pause.by
            ));
        }
        for (workspace, pause) in &service.paused_in {
            context.output.say(&format!("the queue of {workspace} is paused by {}", pause.by));
        }
    }
    if rows.is_empty() {
        context.output.say("nothing waits; `longhaul queue add \"GOAL\"` puts a task in");
    }
    Ok(ExitCode::SUCCESS)
}
