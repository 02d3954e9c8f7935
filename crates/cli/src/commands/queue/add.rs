//! `longhaul queue add`: a task that is done when its turn comes.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::Script;
use longhaul_runtime::control::NewEntry;
use longhaul_runtime::types::{Priority, Taint};
use longhaul_web::Client;

use super::{control, show_opened};
use crate::context::Context;
use crate::error::CliError;
use crate::input;
use crate::words;

/// Put a task into the queue of this repository. The daemon starts it from the newest commit of its base when its turn comes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is wanted, in your words; `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "GOAL")]
    goal: String,

    /// The pipeline or workflow that leads there, instead of `pipeline.default`.
    #[arg(long, value_name = "ID")]
    pipeline: Option<String>,

    /// End after this phase of the pipeline: one of its own steps, such as `intent`.
    #[arg(long, value_name = "PHASE")]
    until: Option<String>,

    /// Who does it: a name of `longhaul agent list`, or `PROVIDER/MODEL`; `agents.default` unless given.
    #[arg(long, value_name = "NAME", conflicts_with = "cassette")]
    agent: Option<String>,

    /// A script that is played instead of asking anybody.
    #[arg(long, value_name = "FILE")]
    cassette: Option<PathBuf>,

    /// How urgent it is.
    #[arg(long, value_parser = words::one_of(Priority::WORDS), default_value = "normal")]
    priority: Priority,

    /// By when it should be done, so far from now: `2d`, `6h`.
    #[arg(long, value_name = "DURATION")]
    deadline: Option<String>,

    /// What it may use, in place of what the settings say; some of `tokens=50k,time=10m,money=2usd,turns=30`.
    #[arg(long, value_name = "CAPS")]
    budget: Option<String>,

    /// Not before this task is over; may be repeated.
    #[arg(long, value_name = "TASK")]
    after: Vec<String>,

    /// Paths that it is going to touch, as a pattern; may be repeated. What overlaps is not done at once.
    #[arg(long, value_name = "GLOB")]
    scope: Vec<String>,

    /// The branch to start from; the default branch unless given.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,

    /// The goal was written by people that nobody here knows: it gets no secrets and reaches only models and packages.
    #[arg(long)]
    from_outside: bool,

    /// After so many attempts a person is asked.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    max_attempts: u32,
}

impl Args {
    fn entry(&self) -> Result<NewEntry, CliError> {
        let script = |path: &PathBuf| -> Result<Script, CliError> {
            let path = path.display().to_string();
            let text = input::text("the cassette", &format!("@{path}"))?;
            Ok(Script { path, text })
        };
        Ok(NewEntry {
            pipeline: self.pipeline.clone(),
            until: self.until.clone(),
            agent: self.agent.clone(),
            cassette: self.cassette.as_ref().map(script).transpose()?,
            priority: self.priority,
            deadline: self.deadline.clone(),
            budget: self.budget.clone(),
            after: self.after.clone(),
            scope: self.scope.clone(),
            base: self.base.clone(),
            taint: if self.from_outside { Taint::Outside } else { Taint::Clean },
            max_attempts: self.max_attempts,
            ..NewEntry::of(input::text("the goal", &self.goal)?)
        })
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let entry = args.entry()?;
    let commands = system.commands()?;
    let entered = control(&system, &commands).enter(&entry)?;
    entered.warnings.iter().for_each(|warning| context.output.say(&format!("warning: {warning}")));
    if Client::find(&system.places().control_socket()).is_none() {
        context.output.say("no daemon runs, so it waits; `longhaul daemon start` starts one");
    }
    show_opened(context, &system, entered.task)
}
