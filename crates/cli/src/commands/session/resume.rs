//! `longhaul session resume`: finds the session that somebody wants to go on with.

use std::process::ExitCode;

use longhaul_runtime::types::{SessionId, StepView};
use longhaul_runtime::{Error, Ranked, Reader, Recap, ResumeQuery, System, clear_winner};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::moment;
use crate::output::{Format, Row, count, lines};
use crate::step;

/// Find the session to go on with, and show its step.
///
/// Ranked by id, by words in goal and notes, by workflow, by the commit and the branch it began at, and by when it
/// last changed. If one is clearly meant, its goal, what was noted so far and its step are shown, with its handle and the
/// guidance of its workflow. Nothing is changed; only work that lost its runner gets a new one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An id, words from the goal or the notes, or a workflow.
    query: Vec<String>,

    /// Change what an agent of ours may use for it, and go on with it if it stopped for want of that; some of
    /// `tokens=50k,time=10m,money=2usd,turns=30`, or `same` to look at the settings again. A person's to say.
    #[arg(long, value_name = "CAPS")]
    budget: Option<String>,
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
        Some(format!("because {}", self.ranked.because_with(moment::shown).join(", ")))
    }
}

/// Both parts in one object, for scripts.
#[derive(Debug, Serialize)]
struct Resumed<'a> {
    candidates: Vec<RankedRow<'a>>,
    step: Option<&'a StepView>,
    goal: Option<&'a str>,
    /// What was noted so far, the newest if there is not room for all.
    notes: Option<&'a str>,
}

/// How much of what was noted is shown, in tokens.
const RECAP_TOKENS: usize = 2_000;

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let text = (!args.query.is_empty()).then(|| args.query.join(" "));
    if let Some(commands) = system.existing_commands()? {
        system.end_half_begun(&commands)?;
    }
    let Some(reader) = system.reader()? else { return nothing_open(context) };
    let ranked = system.resumable(&reader, &ResumeQuery { text, ..ResumeQuery::default() })?;
    let winner = clear_winner(&ranked);
    if let (Some(budget), Some(winner)) = (&args.budget, winner) {
        system.change_budget(&system.commands()?, winner.id, budget)?;
    }
    let taken_up = winner.map(|winner| take_up(&system, &reader, winner.id)).transpose()?;
    let (view, recap) = taken_up.unzip();
    let rows: Vec<RankedRow<'_>> = ranked.iter().map(|ranked| RankedRow { ranked }).collect();
    if context.output.format() == Format::Json {
        let (goal, notes) = recap.as_ref().map(|recap| (&*recap.goal, &*recap.notes)).unzip();
        context.output.text("", &Resumed { candidates: rows, step: view.as_ref(), goal, notes })?;
        return Ok(view.as_ref().map_or(ExitCode::SUCCESS, step::exit));
    }
    context.output.rows(&rows)?;
    match (&view, &recap) {
        (Some(view), Some(recap)) => {
            context.output.text(&so_far(recap), &())?;
            return step::show(context, view);
        }
        _ if ranked.is_empty() => return nothing_open(context),
        _ => context.output.say("none is clearly meant; name one by its id, or by words from its notes"),
    }
    // Whoever changes something has to say what.
    Ok(if args.budget.is_some() { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
}

fn take_up(system: &System, reader: &Reader, id: SessionId) -> Result<(StepView, Recap), Error> {
    let commands = system.commands()?;
    let view = system.resume(&commands, id)?;
    Ok((view, commands.recap(reader, id, RECAP_TOKENS)?))
}

fn nothing_open(context: &Context) -> Result<ExitCode, CliError> {
    if context.output.format() == Format::Json {
        context.output.text("", &Resumed { candidates: Vec::new(), step: None, goal: None, notes: None })?;
    }
    context.output.say("no session is open; `longhaul session start` starts one");
    Ok(ExitCode::SUCCESS)
}

/// What somebody who takes it up was not there for.
fn so_far(recap: &Recap) -> String {
    let mut text = format!("\n{}", lines(&format!("Goal: {}", recap.goal), ""));
    if !recap.notes.is_empty() {
        text += &lines("So far:", "");
        text += &lines(&recap.notes, "  ");
    }
    if recap.left_out > 0 {
        text += &lines(
            &format!(
                "({} more; `longhaul session show` has them)",
                count(recap.left_out as u64, "earlier note")
            ),
            "  ",
        );
    }
    text.push('\n');
    text
}
