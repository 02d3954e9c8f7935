//! Every verb of `longhaul`: one file each, and one line here.

mod agent;
mod artifact;
mod await_;
mod backup;
mod completions;
mod config;
mod daemon;
mod demo;
mod doctor;
mod explain;
mod forge;
mod gate;
mod gc;
mod help;
mod hired;
mod inbox;
mod init;
mod log;
mod logs;
mod man;
mod mcp;
mod proof;
mod queue;
mod redact;
mod restore;
mod run;
mod runner;
mod sandbox;
mod secret;
mod session;
mod spawn;
mod stats;
mod status;
mod stop;
mod task;
mod tell;
mod trigger;
mod workflow;
mod workspace;
mod worktree;

use std::process::ExitCode;

use clap::CommandFactory as _;

pub(crate) use mcp::Obstacle;

use crate::context::{Context, Globals};
use crate::error::CliError;

/// Autonomous software development that never loses work.
#[derive(Debug, clap::Parser)]
#[command(
    name = "longhaul",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "`longhaul help --all` lists every command."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

// Hidden are the verbs that nobody needs every day.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Init(init::Args),
    Run(run::Args),
    Status(status::Args),
    Inbox(inbox::Args),
    #[command(subcommand)]
    Task(task::Command),
    #[command(subcommand)]
    Queue(queue::Command),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Agent(agent::Command),
    #[command(subcommand, hide = true)]
    Workspace(workspace::Command),
    #[command(subcommand)]
    Workflow(workflow::Command),
    #[command(subcommand)]
    Session(session::Command),
    #[command(subcommand)]
    Gate(gate::Command),
    #[command(subcommand, hide = true)]
    Trigger(trigger::Command),
    #[command(hide = true)]
    Tell(tell::Args),
    #[command(subcommand, hide = true)]
    Daemon(daemon::Command),
    #[command(hide = true)]
    Stop(stop::Args),
    #[command(hide = true)]
    Spawn(spawn::Args),
    #[command(hide = true)]
    Await(await_::Args),
    #[command(subcommand, hide = true)]
    Proof(proof::Command),
    #[command(subcommand, hide = true)]
    Worktree(worktree::Command),
    #[command(subcommand, hide = true)]
    Forge(forge::Command),
    #[command(subcommand, hide = true)]
    Artifact(artifact::Command),
    #[command(subcommand, hide = true)]
    Log(log::Command),
    #[command(hide = true)]
    Logs(logs::Args),
    #[command(hide = true)]
    Stats(stats::Args),
    #[command(hide = true)]
    Gc(gc::Args),
    #[command(hide = true)]
    Redact(redact::Args),
    #[command(hide = true)]
    Backup(backup::Args),
    #[command(hide = true)]
    Restore(restore::Args),
    #[command(hide = true)]
    Mcp(mcp::Args),
    #[command(subcommand, hide = true)]
    Sandbox(sandbox::Command),
    #[command(subcommand, hide = true)]
    Secret(secret::Command),
    #[command(subcommand, hide = true)]
    Config(config::Command),
    #[command(hide = true)]
    Explain(explain::Args),
    #[command(hide = true)]
    Completions(completions::Args),
    #[command(hide = true)]
    Man(man::Args),
    #[command(hide = true)]
    Help(help::Args),
    #[command(hide = true)]
    Runner(runner::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Demo(args) => demo::run(context, args),
            Self::Init(args) => init::run(context, args),
            Self::Run(args) => run::run(context, args),
            Self::Status(args) => status::run(context, args),
            Self::Inbox(args) => inbox::run(context, args),
            Self::Tell(args) => tell::run(context, args),
            Self::Task(command) => command.run(context),
            Self::Queue(command) => command.run(context),
            Self::Daemon(command) => command.run(context),
            Self::Doctor(args) => doctor::run(context, args),
            Self::Agent(command) => command.run(context),
            Self::Workspace(command) => command.run(context),
            Self::Session(command) => command.run(context),
            Self::Gate(command) => command.run(context),
            Self::Trigger(command) => command.run(context),
            Self::Stop(args) => stop::run(context, args),
            Self::Spawn(args) => spawn::run(context, args),
            Self::Await(args) => await_::run(context, args),
            Self::Proof(command) => command.run(context),
            Self::Worktree(command) => command.run(context),
            Self::Forge(command) => command.run(context),
            Self::Artifact(command) => command.run(context),
            Self::Workflow(command) => command.run(context),
            Self::Log(command) => command.run(context),
            Self::Logs(args) => logs::run(context, args),
            Self::Stats(args) => stats::run(context, args),
            Self::Gc(args) => gc::run(context, args),
            Self::Redact(args) => redact::run(context, args),
            Self::Backup(args) => backup::run(context, args),
            Self::Restore(args) => restore::run(context, args),
            Self::Mcp(args) => mcp::run(context, args),
            Self::Sandbox(command) => command.run(context),
            Self::Secret(command) => command.run(context),
            Self::Config(command) => command.run(context),
            Self::Explain(args) => explain::run(context, args),
            Self::Completions(args) => completions::run(context, args),
            Self::Man(args) => man::run(context, args),
            Self::Help(args) => help::run(context, args),
            Self::Runner(args) => runner::run(context, args),
        }
    }
}

/// The command line with nothing hidden but what only we ourselves call.
fn whole_tree() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        let ours = command.get_name() == runner::NAME;
        command.hide(ours)
    })
}
