//! `longhaul run`: has an agent of ours do a task, in a worktree of its own.

mod ending;
mod frame;
mod watch;

use std::process::ExitCode;

use longhaul_runtime::types::{Taint, TaskSource};
use longhaul_runtime::{Drive, NewDrive, System, TaskOrigin, Ticket, terminal};
use serde::Serialize;

use super::hired::{Hired, REHEARSAL};
use crate::context::Context;
use crate::error::CliError;
use crate::following::Following;
use crate::input;
use crate::output::{Format, lines};
use watch::Watch;

/// Have an agent do a task in a worktree of its own, behind walls, and wait for it.
///
/// It follows the pipeline of the settings (`pipeline.default`), or the one that `--pipeline` names; `--workflow` has a
/// single workflow done instead. The work goes on if this terminal is lost; `longhaul task show ID` tells how far it is.
/// Ctrl-C stops it for good, a second one at once. `longhaul agent list` shows who can do it; a rehearsal plays a cassette
/// and asks nobody.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is wanted, in your words; `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "GOAL", required_unless_present_any = ["workflow", "issue"], conflicts_with = "workflow")]
    wanted: Option<String>,

    /// Do what this ticket of the repository's forge says, instead of a goal. Its text counts as from outside.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["workflow", "wanted"])]
    issue: Option<u64>,

    /// The pipeline that leads there, instead of `pipeline.default`.
    #[arg(long, value_name = "ID", conflicts_with = "workflow")]
    pipeline: Option<String>,

    /// End after this phase of the pipeline: one of its own steps, such as `intent`.
    #[arg(long, value_name = "PHASE")]
    until: Option<String>,

    /// A single workflow: its id, or its file.
    #[arg(long, value_name = "ID|FILE", requires = "goal")]
    workflow: Option<String>,

    /// What the workflow is for; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true, requires = "workflow")]
    goal: Option<String>,

    #[command(flatten)]
    hired: Hired,

    /// Return as soon as it is under way.
    #[arg(long)]
    detach: bool,

    /// Show live how far it is, on standard error: steps, the sessions below them, turn, tool, tokens, time. Where that is
    /// no terminal, a line for each thing that happens.
    #[arg(long, conflicts_with = "detach")]
    watch: bool,
}

impl Args {
    /// What is to be started.
    fn drive(&self, system: &System) -> Result<NewDrive, CliError> {
        let workflow = match self.workflow.clone().or_else(|| self.pipeline.clone()) {
            Some(named) => named,
            None => system.config()?.pipeline_default,
        };
        let task = |source| TaskOrigin { until: self.until.clone(), ..TaskOrigin::of(source) };
        if let Some(number) = self.issue {
            let Ticket { goal, source, labels } = system.ticket(number)?;
            let new = self.hired.drive(&workflow, goal, TaskOrigin { labels, ..task(source) })?;
            return Ok(NewDrive { taint: Taint::Outside, ..new });
        }
        let goal = self.wanted.as_deref().or(self.goal.as_deref()).unwrap_or_default();
        self.hired.drive(&workflow, input::text("the goal", goal)?, task(TaskSource::CLI))
    }
}

/// What scripts get of a run that is under way.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UnderWay {
    session_id: String,
    worktree: String,
    branch: String,
    agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    rehearsal: bool,
    warnings: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    if args.watch && context.output.format() == Format::Json {
        return Err(CliError::WatchWithJson);
    }
    let system = context.system()?;
    let new = args.drive(&system)?;
    let commands = system.commands()?;
    // Ctrl-C while the worktree is made stops the session too, and does not leave it to itself.
    if !args.detach {
        terminal::catch_interrupts();
    }
    let drive = system.drive(&commands, new)?;
    tell(context, &drive);
    if args.detach {
        return under_way(context, drive);
    }
    let mut watch = args.watch.then(|| Watch::start(&commands, drive.session)).transpose()?;
    let mut following = Following::new(context, &system, &commands, drive.session);
    let followed = system.follow(&commands, drive.session, &mut || {
        watch.iter_mut().for_each(Watch::look);
        following.heed();
        true
    });
    if let Err(error) = followed {
        let id = drive.session;
        context.output.complain(&format!(
            "session {id} is on record as far as it came; when that is put right, `longhaul session resume {id} --budget same` goes on with it, and `longhaul stop {id}` ends it"
        ));
        return Err(error.into());
    }
    watch.into_iter().for_each(Watch::end);
    ending::show(context, &system, &commands, &drive)
}

fn tell(context: &Context, drive: &Drive) {
    context.output.say(&format!(
        "session {} ({}) works in {} on {}",
        drive.session, drive.agent, drive.worktree, drive.branch
    ));
    drive.warnings.iter().for_each(|warning| context.output.say(&format!("warning: {warning}")));
}

fn under_way(context: &Context, drive: Drive) -> Result<ExitCode, CliError> {
    let Drive { session, agent, model, worktree, branch, warnings } = drive;
    let (session_id, rehearsal) = (session.to_string(), agent == REHEARSAL);
    let told = UnderWay { session_id, worktree, branch, agent, model, rehearsal, warnings };
    let next = [
        format!("longhaul session tail {session}  # follows it"),
        format!("longhaul session show {session}  # how far it is, and what it did"),
        format!("longhaul session steer {session} TEXT  # tells the agent something"),
        format!("longhaul stop {session}  # ends it"),
    ];
    let next: String = next.iter().map(|next| lines(&format!("next: {next}"), "  ")).collect();
    context.output.text(&next, &told)?;
    Ok(ExitCode::SUCCESS)
}
