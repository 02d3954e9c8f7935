//! `longhaul trigger`: what begins tasks while nobody is at the keyboard.

mod add;
mod fire;
mod list;
mod switch;
mod test;
mod validate;

use std::process::ExitCode;

use longhaul_runtime::types::Switch;

use crate::context::Context;
use crate::error::CliError;

/// Say what begins tasks while nobody is at the keyboard: signed requests, times.
///
/// Triggers stand in `.longhaul/triggers.yml` of a repository, where they count once a person trusts it, and in your own
/// `triggers.yml` beside your settings.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Add(add::Args),
    Validate(validate::Args),
    Test(test::Args),
    Fire(fire::Args),
    /// Switch a trigger on in its file, where nothing else is changed.
    Enable(switch::Args),
    /// Switch a trigger off in its file, where nothing else is changed.
    Disable(switch::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Add(args) => add::run(context, args),
            Self::Validate(args) => validate::run(context, args),
            Self::Test(args) => test::run(context, args),
            Self::Fire(args) => fire::run(context, args),
            Self::Enable(args) => switch::run(context, args, Switch::On),
            Self::Disable(args) => switch::run(context, args, Switch::Off),
        }
    }
}
