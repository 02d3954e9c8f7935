//! `longhaul workflow source add`: fetches a repository of workflows.

use std::process::ExitCode;

use longhaul_runtime::workflows::NewSource;

use super::row::SourceRow;
use crate::context::Context;
use crate::error::CliError;

/// Fetch a repository of workflows; what is in its `workflows/` can then be started.
///
/// What counts is the commit that is fetched now, until `longhaul workflow source update`. Only a person may do this,
/// no agent: the workflows of a source need no further trust.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A URL of `https`, `ssh` or `file`, one like `git@host:path`, or a path.
    #[arg(value_name = "URL|PATH")]
    address: String,

    /// What to call it; without it, the last part of the address.
    #[arg(long)]
    name: Option<String>,

    /// A branch, a tag or a commit; without it, the repository's own head.
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let source = context.system()?.add_git_source(&NewSource {
        address: &args.address,
        name: args.name.as_deref(),
        reference: args.reference.as_deref(),
    })?;
    context.output.say(&format!("`{}` is added; `longhaul workflow list` shows what it has", source.name));
    context.output.row(SourceRow::of(source))?;
    Ok(ExitCode::SUCCESS)
}
