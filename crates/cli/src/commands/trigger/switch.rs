//! `longhaul trigger enable` and `disable`.

use std::process::ExitCode;

use longhaul_runtime::types::Switch;
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, as `longhaul trigger list` shows it.
    id: String,
}

#[derive(Debug, Serialize)]
struct SwitchedRow {
    id: String,
    enabled: bool,
    path: String,
    trusted: Option<bool>,
}

impl Row for SwitchedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        let state = if self.enabled { "on" } else { "off" };
        vec![("ID", self.id.clone()), ("STATE", state.to_owned()), ("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args, switch: Switch) -> Result<ExitCode, CliError> {
    let changed = context.system()?.switch_trigger(&args.id, switch)?;
    context.output.row(SwitchedRow {
        id: changed.id,
        enabled: switch == Switch::On,
        path: changed.path.display().to_string(),
        trusted: changed.trusted,
    })?;
    if changed.trusted == Some(false) {
        context.output.say("`.longhaul/` is not trusted as it is now, so nothing of it counts before a person runs `longhaul workspace trust`");
    }
    Ok(ExitCode::SUCCESS)
}
