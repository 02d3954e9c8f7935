//! `longhaul completions`: what makes a shell complete our verbs and flags.

use std::process::ExitCode;

use clap_complete::Shell;
use serde_json::json;

use super::whole_tree;
use crate::context::Context;
use crate::error::CliError;

/// Print the script that completes `longhaul` in a shell.
///
/// For bash: `longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell that will read it.
    shell: Shell,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    // The generator panics when writing fails, so it writes where that cannot be.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole_tree(), "longhaul", &mut script);
    let script = String::from_utf8_lossy(&script);
    context.output.text(&script, &json!({"shell": args.shell.to_string(), "script": script}))?;
    Ok(ExitCode::SUCCESS)
}
