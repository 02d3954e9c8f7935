//! `longhaul workflow`: what there is to run, whether it is right, and what it would do.

mod list;
mod new;
mod preview;
pub(super) mod report;
mod schema;
mod show;
mod source;
mod validate;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CliError;

/// Find, check, look at and write workflows.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Validate(validate::Args),
    Preview(preview::Args),
    New(new::Args),
    Schema(schema::Args),
    #[command(subcommand)]
    Source(source::Command),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::Validate(args) => validate::run(context, args),
            Self::Preview(args) => preview::run(context, args),
            Self::New(args) => new::run(context, args),
            Self::Schema(args) => schema::run(context, args),
            Self::Source(command) => command.run(context),
        }
    }
}
