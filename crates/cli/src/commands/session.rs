//! `longhaul session`: durable runs of workflows, step by step.

mod advance;
mod cancel;
mod checkpoint;
mod continue_;
mod export;
mod import;
mod list;
mod record;
mod replay;
mod resume;
mod rewind;
mod row;
mod show;
mod start;
mod steer;
mod story;
pub(super) mod tail;

use std::process::ExitCode;

use longhaul_runtime::types::SessionRow;
use longhaul_runtime::{Error, Reader, System};

pub(super) use row::SessionLine;
pub(super) use story::told;

use crate::context::Context;
use crate::error::CliError;

/// Start workflows and walk them step by step; nothing is lost on the way.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    Start(start::Args),
    Advance(advance::Args),
    Show(show::Args),
    List(list::Args),
    Resume(resume::Args),
    Checkpoint(checkpoint::Args),
    Rewind(rewind::Args),
    Continue(continue_::Args),
    Steer(steer::Args),
    Tail(tail::Args),
    Record(record::Args),
    Replay(replay::Args),
    Cancel(cancel::Args),
    Export(export::Args),
    Import(import::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::Start(args) => start::run(context, args),
            Self::Advance(args) => advance::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::List(args) => list::run(context, args),
            Self::Resume(args) => resume::run(context, args),
            Self::Checkpoint(args) => checkpoint::run(context, args),
            Self::Rewind(args) => rewind::run(context, args),
            Self::Continue(args) => continue_::run(context, args),
            Self::Steer(args) => steer::run(context, args),
            Self::Tail(args) => tail::run(context, args),
            Self::Record(args) => record::run(context, args),
            Self::Replay(args) => replay::run(context, args),
            Self::Cancel(args) => cancel::run(context, args),
            Self::Export(args) => export::run(context, args),
            Self::Import(args) => import::run(context, args),
        }
    }
}

/// The session that a person means. Without a store there is none.
pub(super) fn find(system: &System, text: &str) -> Result<(Reader, SessionRow), CliError> {
    let reader = system.reader()?.ok_or_else(|| Error::NoSuchSession(text.to_owned()))?;
    let row = reader.find_session(text)?;
    Ok((reader, row))
}
