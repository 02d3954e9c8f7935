//! `longhaul forge pr`: changes that are to be merged.

mod list;
mod review;
mod show;

use std::process::ExitCode;

use longhaul_runtime::forge::{Pull, PullState, Readiness};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Pull requests of a forge on this machine.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Review(review::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::Review(args) => review::run(context, args),
        }
    }
}

const fn state_word(pull: &Pull) -> &'static str {
    match (pull.state, pull.readiness) {
        (PullState::Open, Readiness::Draft) => "draft",
        (PullState::Open, Readiness::Ready) => "open",
        (PullState::Merged, _) => "merged",
        (PullState::Closed, _) => "closed",
    }
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct PullRow<'a>(&'a Pull);

impl Row for PullRow<'_> {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let pull = self.0;
        vec![
            ("NUMBER", pull.number.to_string()),
            ("STATE", state_word(pull).to_owned()),
            ("BRANCH", pull.head.clone()),
            ("INTO", pull.base.clone()),
            ("TITLE", pull.title.clone()),
        ]
    }
}
