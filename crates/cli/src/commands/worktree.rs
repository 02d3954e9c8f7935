//! `longhaul worktree`: the files that sessions work on.

mod clean;
mod diff;
mod info;
mod list;
mod new;
mod restore;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// See, make, restore and clean up the worktrees of sessions.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Info(info::Args),
    List(list::Args),
    New(new::Args),
    Diff(diff::Args),
    Restore(restore::Args),
    Clean(clean::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Info(args) => info::run(context, args),
            Self::List(args) => list::run(context, args),
            Self::New(args) => new::run(context, args),
            Self::Diff(args) => diff::run(context, args),
            Self::Restore(args) => restore::run(context, args),
            Self::Clean(args) => clean::run(context, args),
        }
    }
}

/// A commit or a snapshot as people read it.
fn short(id: &str) -> String {
    id.chars().take(12).collect()
}
