//! `longhaul artifact`: what agents handed in as data.

mod list;
mod save;
mod show;

use std::process::ExitCode;

use longhaul_runtime::{Artifact, Error, System};
use serde_json::Value;

use crate::context::Context;
use crate::error::CliError;

/// See and save what agents handed in.
#[derive(Debug, clap::Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Save(save::Args),
}

impl Command {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitCode, CliError> {
        match self {
            Self::List(args) => list::run(context, args),
            Self::Show(args) => show::run(context, args),
            Self::Save(args) => save::run(context, args),
        }
    }
}

fn find(system: &System, text: &str) -> Result<Artifact, CliError> {
    let reader = system.reader()?.ok_or_else(|| Error::NoSuchArtifact(text.to_owned()))?;
    Ok(reader.artifact(text)?)
}

/// A text as it is, all else as indented JSON.
pub(super) fn written(value: &Value) -> String {
    let mut text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).expect("JSON values can be written"),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
