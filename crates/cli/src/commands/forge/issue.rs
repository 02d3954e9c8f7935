//! `longhaul forge issue`: what is to be done.

mod close;
mod list;
mod new;
mod show;

use std::process::ExitCode;

use longhaul_runtime::forge::{Issue, State};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Issues of a forge on this machine.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    New(new::Args),
    List(list::Args),
    Show(show::Args),
    Close(close::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::New(args) => new::run(context, args),
            Self::List(args) => list::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::Close(args) => close::run(context, args),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct IssueRow<'a>(&'a Issue);

impl Row for IssueRow<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let issue = self.0;
        let state = match issue.state {
            State::Open => "open",
            State::Closed => "closed",
        };
        vec![
            ("NUMBER", issue.number.to_string()),
            ("STATE", state.to_owned()),
            ("LABELS", issue.labels.join(",")),
            ("TITLE", issue.title.clone()),
        ]
    }
}
