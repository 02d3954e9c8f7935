//! `longhaul forge init`: an empty forge.

use std::path::PathBuf;
use std::process::ExitCode;

use longhaul_runtime::forge::Forge as _;
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Make a forge on this machine: a bare repository with issues and pull requests in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where it shall be. A bare repository that is there becomes one.
    path: PathBuf,

    /// The branch that changes are merged into.
    #[arg(long, value_name = "BRANCH", default_value = "main")]
    branch: String,
}

#[derive(Debug, Serialize)]
struct Made {
    path: String,
}

impl Row for Made {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let forge = context.system()?.make_forge(&args.path, &args.branch)?;
    let path = forge.address();
    context
        .output
        .say(&format!("`git remote add origin {path}` in a repository makes it that repository's forge"));
    context.output.row(Made { path })?;
    Ok(ExitCode::SUCCESS)
}
