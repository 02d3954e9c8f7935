//! `longhaul mcp`: the server that coding agents connect to, and its entry in their settings.

mod client;
mod install;
mod json_settings;
mod serve;
mod toml_settings;

use std::process::ExitCode;

pub(crate) use install::Obstacle;

use crate::context::Context;
use crate::error::CliError;

/// Serve a coding agent over MCP: workflows one step at a time, and sessions that are never lost.
///
/// Speaks on standard input and output, as agents start it, or with `--http` on a port, at `/mcp`. On any address but
/// loopback clients must send `Authorization: Bearer TOKEN`; the token is that of `LONGHAUL_MCP_TOKEN`, else one is
/// made and shown once on standard error.
///
/// With `--attach`, as an agent starts it in the sandbox of a session, it hands everything on to the gateway of that
/// session, and offers its tools and no others.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    serve: serve::Serving,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Install(install::Args),
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    match &args.command {
        Some(Command::Install(install)) => install::run(context, install),
        None => serve::run(context, &args.serve),
    }
}
