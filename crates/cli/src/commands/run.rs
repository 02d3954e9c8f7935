//! `longhaul run`: has an agent of ours do a workflow, in a worktree of its own.

mod frame;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use longhaul_runtime::{Drive, NewDrive, NewWalk, Script, Walled, terminal};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::output::{Format, count};
use crate::{input, step};
use watch::Watch;

/// Have an agent do a workflow in a worktree of its own, behind walls, and wait for it.
///
/// The work goes on if this terminal is lost; `longhaul session show ID` tells how far it is. So far the only agent is
/// `rehearsal`, which plays a cassette.
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

    /// How strong the walls are; `longhaul sandbox check` tells what works here.
    #[arg(long, value_enum, default_value = "full")]
    sandbox: WallWord,

    /// The branch to start from; the default branch unless given.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WallWord {
    Full,
    Reduced,
    None,
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
    let drive = system.drive(
        &commands,
        NewDrive {
            walk: NewWalk { workflow: args.workflow.clone(), goal, vars: vars.unwrap_or_default() },
            cassette: Script { path, text },
            walls: match args.sandbox {
                WallWord::Full => Walled::Full,
                WallWord::Reduced => Walled::Reduced,
                WallWord::None => Walled::None,
            },
            base: args.base.clone(),
            by: terminal::user_name(),
        },
    )?;
    tell(context, &drive);
    if args.detach {
        return under_way(context, drive);
    }
    let mut watch = args.watch.then(|| Watch::start(&commands, drive.session)).transpose()?;
    let view = system.follow(&commands, drive.session, &mut || {
        watch.iter_mut().for_each(Watch::look);
        true
    })?;
    watch.into_iter().for_each(Watch::end);
    let shown = step::show(context, &view)?;
    if let Some(left) = system.rehearsal_end(&commands, drive.session)?.filter(|_| view.is_complete) {
        context.output.complain(&left);
        return Ok(ExitCode::from(REFUSED));
    }
    let changed = system.worktree_changes(drive.session)?;
    let number = u64::try_from(changed.len()).unwrap_or(u64::MAX);
    context.output.say(&format!(
        "{} in {} on {}",
        count(number, "changed file"),
        drive.worktree,
        drive.branch
    ));
    changed.iter().for_each(|file| context.output.say(&format!("  {} {}", file.change, file.path)));
    Ok(shown)
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
    context.output.text("", &told)?;
    Ok(ExitCode::SUCCESS)
}
