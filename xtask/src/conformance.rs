//! `cargo xtask conformance`: the MCP server against what others wrote — the official suite, clients, an agent.
//!
//! The tests themselves install what they need, pinned and below the target directory. They are among those of
//! `cargo xtask test`; this runs them alone.

use crate::Verdict;
use crate::error::Error;
use crate::process;

/// Run the official MCP suite, real clients and a real agent against the server.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// All clients, in both eras, instead of those of every day.
    #[arg(long)]
    full: bool,
}

/// By their modules, so that a test that is added there is run here.
const TESTS: &str = "test(/^conformance::/) | test(/^mcp::clients::/) | test(/^mcp::agent::/)";

pub(crate) fn run(args: &Args) -> Result<Verdict, Error> {
    let mut nextest = process::command("cargo");
    nextest.args(["nextest", "run", "--package", "longhaul-mcp", "--package", "longhaul"]);
    nextest.args(["--filterset", TESTS]);
    if args.full {
        nextest.args(["--profile", "full"]).env("LONGHAUL_TEST_LEVEL", "full");
    }
    Ok(if process::succeeds(&mut nextest)? { Verdict::Good } else { Verdict::Bad })
}
