//! `longhaul run`: has an agent of ours do a workflow, in a worktree of its own.

mod ending;
mod frame;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_runtime::types::{SandboxLevel, SandboxNetwork};
use longhaul_runtime::{Drive, NewDrive, NewWalk, Script, WantedWalls, terminal};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::following::Following;
use crate::input;
use crate::output::{Format, lines};
use crate::words;
use watch::Watch;

/// Have an agent do a workflow in a worktree of its own, behind walls, and wait for it.
///
/// The work goes on if this terminal is lost; `longhaul session show ID` tells how far it is. Ctrl-C stops it for good, a
/// second one at once. So far the only agent is `rehearsal`, which plays a cassette.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of a workflow, or its file.
    #[arg(long, value_name = "ID|FILE")]
    workflow: String,

    /// What it is for; `-` reads standard input, `@FILE` a file.
    #[arg(long, value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    goal: String,

    /// Vars to begin with, as a JSON object.
    #[arg(long, value_name = "JSON|@FILE")]
    vars: Option<String>,

    /// Who does it.
    #[arg(long, value_enum, default_value = "rehearsal")]
    agent: AgentWord,

    /// What the rehearsal plays.
    #[arg(long, value_name = "FILE")]
    cassette: PathBuf,

    /// How strong the walls are, instead of `sandbox.level`; `longhaul sandbox check` tells what works here.
    #[arg(long, value_parser = words::one_of(SandboxLevel::WORDS))]
    sandbox: Option<SandboxLevel>,

    /// What can be reached, instead of `sandbox.network`; `allow-list` lets the `sandbox.hosts` through.
    #[arg(long, value_parser = words::one_of(SandboxNetwork::WORDS))]
    network: Option<SandboxNetwork>,

    /// The branch to start from; the default branch unless given.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// What it may use, in place of what the settings say; some of `tokens=50k,time=10m,money=2usd,turns=30`.
    #[arg(long, value_name = "CAPS")]
    budget: Option<String>,

    /// Return as soon as it is under way.
    #[arg(long)]
    detach: bool,

    /// Show live how far it is, on standard error: steps, turn, tool, tokens, time. Where that is no terminal, a line for
    /// each thing that happens.
    #[arg(long, conflicts_with = "detach")]
    watch: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum AgentWord {
    Rehearsal,
}

impl Args {
    fn walls(&self) -> WantedWalls {
        WantedWalls { level: self.sandbox, network: self.network }
    }
}

/// What scripts get of a run that is under way.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UnderWay {
    session_id: String,
    worktree: String,
    branch: String,
    rehearsal: bool,
    warnings: Vec<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let AgentWord::Rehearsal = args.agent;
    if args.watch && context.output.format() == Format::Json {
        return Err(CliError::WatchWithJson);
    }
    let goal = input::text("the goal", &args.goal)?;
    let vars = args.vars.as_deref().map(|vars| input::object("`--vars`", vars)).transpose()?;
    let path = args.cassette.display().to_string();
    let text = input::text("the cassette", &format!("@{path}"))?;
    let system = context.system()?;
    let commands = system.commands()?;
    // Ctrl-C while the worktree is made stops the session too, and does not leave it to itself.
    if !args.detach {
        terminal::catch_interrupts();
    }
    let drive = system.drive(
        &commands,
        NewDrive {
            walk: NewWalk { workflow: args.workflow.clone(), goal, vars: vars.unwrap_or_default() },
            cassette: Script { path, text },
            walls: args.walls(),
            base: args.base.clone(),
            budget: args.budget.clone(),
            by: terminal::user_name(),
        },
    )?;
    tell(context, &drive);
    if args.detach {
        return under_way(context, drive);
    }
    let mut watch = args.watch.then(|| Watch::start(&commands, drive.session)).transpose()?;
    let mut following = Following::new(context, &system, &commands, drive.session);
    system.follow(&commands, drive.session, &mut || {
        watch.iter_mut().for_each(Watch::look);
        following.heed();
        true
    })?;
    watch.into_iter().for_each(Watch::end);
    ending::show(context, &system, &commands, &drive)
}

fn tell(context: &Context, drive: &Drive) {
    context.output.say(&format!(
        "session {} (rehearsal) works in {} on {}",
        drive.session, drive.worktree, drive.branch
    ));
    drive.warnings.iter().for_each(|warning| context.output.say(&format!("warning: {warning}")));
}

fn under_way(context: &Context, drive: Drive) -> Result<ExitCode, CliError> {
    let Drive { session, worktree, branch, warnings } = drive;
    let told = UnderWay { session_id: session.to_string(), worktree, branch, rehearsal: true, warnings };
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
