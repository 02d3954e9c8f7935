//! `longhaul workspace rm`: takes a repository out of the registry.

use std::process::ExitCode;

use longhaul_runtime::terminal;
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Take a repository out of the registry; its files stay as they are.
///
/// Its trust is forgotten: registered again, it has to be trusted again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, its name, or a path in it.
    #[arg(value_name = "ID|NAME|PATH")]
    workspace: String,
}

#[derive(Debug, Serialize)]
struct RemovedRow {
    id: String,
    name: String,
    path: String,
}

impl Row for RemovedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("ID", self.id.clone()), ("NAME", self.name.clone()), ("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, workspace) = system.find_workspace(Some(&args.workspace))?;
    system.commands()?.remove_workspace(workspace.id, &terminal::user_name())?;
    context.output.row(RemovedRow {
        id: workspace.id.to_string(),
        name: workspace.name.clone(),
        path: workspace.checkout.unwrap_or(workspace.common_dir),
    })?;
    context.output.say(&format!("`{}` is no longer registered; its files were not touched", workspace.name));
    Ok(ExitCode::SUCCESS)
}
