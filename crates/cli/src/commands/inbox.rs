//! `longhaul inbox`: what waits for a person, and their word to it.

mod approve;
mod done;
mod list;
mod reject;
mod reply;
mod row;
mod show;

use std::process::ExitCode;

use longhaul_runtime::types::{Entry, EntryKind};
use longhaul_runtime::{Error, InboxError, System};

use crate::context::Context;
use crate::error::CliError;

/// See what waits for you: gates, questions, what is blocked or out of budget, results. Without a command it lists them.
///
/// Every entry is told from what is on record, and goes when its cause does. The id of an entry may be shortened; the id of a
/// gate, session or task stands for an entry if it alone is about that.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Reply(reply::Args),
    Approve(approve::Args),
    Reject(reject::Args),
    Done(done::Args),
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    match &args.command {
        None | Some(Command::List(list::Args {})) => list::run(context),
        Some(Command::Show(args)) => show::run(context, args),
        Some(Command::Reply(args)) => reply::run(context, args),
        Some(Command::Approve(args)) => approve::run(context, args),
        Some(Command::Reject(args)) => reject::run(context, args),
        Some(Command::Done(args)) => done::run(context, args),
    }
}

fn find(system: &System, text: &str) -> Result<Entry, CliError> {
    Ok(system.desk()?.find(text)?.clone())
}

/// The gate that an entry is about, by the name that `longhaul gate` has for it.
fn gate(entry: &Entry) -> Result<String, CliError> {
    match (entry.kind, entry.session, entry.gate) {
        (EntryKind::Gate, Some(session), Some(node)) => Ok(format!("{session}.{node}")),
        _ => Err(Error::from(InboxError::no_gate(entry)).into()),
    }
}
