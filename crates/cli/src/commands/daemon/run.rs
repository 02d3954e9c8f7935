//! `longhaul daemon run`: serves in the foreground.

use std::process::ExitCode;

use longhaul_runtime::lifecycle::{self, Farewell};

use crate::context::Context;
use crate::error::CliError;
use crate::output::count;

/// Serve in the foreground, until Ctrl-C or a request to end; a second one ends it at once.
///
/// There is one daemon for each data directory. When it ends, the runners of its tasks let go of their sessions at the next
/// safe boundary, and whoever serves next goes on with them. If it dies, they go on by themselves.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only say whether it could serve, and serve nobody.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let settings = context.settings()?;
    if args.check {
        lifecycle::check(&settings)?;
        context.output.say("it could serve");
        return Ok(ExitCode::SUCCESS);
    }
    context.output.say(&format!(
        "longhaul {} starts as process {}",
        env!("CARGO_PKG_VERSION"),
        std::process::id()
    ));
    let ended = lifecycle::serve(&settings, env!("CARGO_PKG_VERSION"), longhaul_web::begin)?;
    let rested = match ended.farewell {
        Farewell::HandOver | Farewell::Drain => String::new(),
        Farewell::Rest | Farewell::Now => {
            let sessions = count(ended.rested.sessions.len() as u64, "session");
            format!("; {sessions} wait for whoever serves next, {} still at work", ended.rested.left.len())
        }
    };
    context.output.say(&format!("ended: {}{rested}", ended.farewell.in_words()));
    Ok(ExitCode::SUCCESS)
}
