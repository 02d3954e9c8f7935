//! `longhaul secret list`: the names, never the values.

use std::process::ExitCode;

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// List the names of the secrets; the values are never shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Debug, Serialize)]
struct NameRow {
    name: String,
}

impl Row for NameRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("NAME", self.name.clone())]
    }
}

pub(crate) fn run(context: &Context, _: &Args) -> Result<ExitCode, CliError> {
    let names = context.system()?.secret_names()?;
    if names.is_empty() {
        context.output.say("there are no secrets; `longhaul secret set NAME` keeps one");
    }
    let rows: Vec<NameRow> = names.into_iter().map(|name| NameRow { name }).collect();
    context.output.rows(&rows)?;
    Ok(ExitCode::SUCCESS)
}
