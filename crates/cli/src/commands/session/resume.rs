//! `longhaul session resume`: finds the session that somebody wants to go on with.

use std::process::ExitCode;

use longhaul_runtime::types::StepView;
use longhaul_runtime::{Ranked, ResumeQuery, clear_winner};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::{Format, Row};
use crate::step;

/// Find the session to go on with, and show its step.
///
/// Ranked by id, by words in goal and notes, by workflow, by the commit and the branch it began at, and by when it
/// last changed. If one is clearly meant, its step is shown with its handle and the guidance of its workflow. Nothing is
/// changed; only work that lost its runner gets a new one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An id, words from the goal or the notes, or a workflow.
    query: Vec<String>,
}

#[derive(Debug, Serialize)]
struct RankedRow<'a> {
    #[serde(flatten)]
    ranked: &'a Ranked,
}

impl Row for RankedRow<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let Ranked { id, workflow, step, goal, .. } = self.ranked;
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            ("ID", id.to_string()),
            ("WORKFLOW", or_dash(workflow)),
            ("STEP", or_dash(step)),
            ("GOAL", goal.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        Some(format!("because {}", self.ranked.because.join(", ")))
    }
}

/// Both parts in one object, for scripts.
#[derive(Debug, Serialize)]
struct Resumed<'a> {
    candidates: Vec<RankedRow<'a>>,
    step: Option<&'a StepView>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let text = (!args.query.is_empty()).then(|| args.query.join(" "));
    let ranked = match system.reader()? {
        Some(reader) => system.resumable(&reader, &ResumeQuery { text, ..ResumeQuery::default() })?,
        None => Vec::new(),
    };
    let winner = clear_winner(&ranked);
    let view = winner.map(|winner| system.resume(&system.commands()?, winner.id)).transpose()?;
    let rows: Vec<RankedRow<'_>> = ranked.iter().map(|ranked| RankedRow { ranked }).collect();
    if context.output.format() == Format::Json {
        context.output.text("", &Resumed { candidates: rows, step: view.as_ref() })?;
        return Ok(view.as_ref().map_or(ExitCode::SUCCESS, step::exit));
    }
    context.output.rows(&rows)?;
    match &view {
        Some(view) => {
            context.output.text("\n", &())?;
            return step::show(context, view);
        }
        None if ranked.is_empty() => {
            context.output.say("no session is open; `longhaul session start` starts one");
        }
        None => context.output.say("none is clearly meant; name one by its id, or by words from its notes"),
    }
    Ok(ExitCode::SUCCESS)
}
