//! `longhaul gate`: points that only a person opens.

mod answer;
mod approve;
mod list;
mod reject;
mod row;
mod show;

use std::process::ExitCode;

pub(super) use answer::{Wish, answer};
use longhaul_runtime::{Clock as _, Error, GateEntry, System, SystemClock};

use crate::context::Context;
use crate::error::CliError;

/// See what waits for a person's word, and give it.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Approve(approve::Args),
    Reject(reject::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::Approve(args) => approve::run(context, args),
            Self::Reject(args) => reject::run(context, args),
        }
    }
}

fn find(system: &System, text: &str) -> Result<GateEntry, CliError> {
    let reader = system.reader()?.ok_or_else(|| Error::NoSuchGate(text.to_owned()))?;
    Ok(reader.gate(text, SystemClock.now())?)
}
