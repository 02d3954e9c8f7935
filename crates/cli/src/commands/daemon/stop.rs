//! `longhaul daemon stop`: ends the daemon, and says what it leaves.

use std::process::ExitCode;

use longhaul_runtime::lifecycle::{Farewell, Stopped};
use serde_json::json;

use crate::context::Context;
use crate::error::CliError;
use crate::output::count;

/// End the daemon. Its sessions stay as they are, and whoever serves next goes on with them.
///
/// Nothing new is started. The runners of its tasks let go of their sessions at the next safe boundary: after the turn or the
/// call that is under way. A step of the workflow's own that cannot be repeated comes to its end first. All files are kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Wait until the tasks that run have ended, however long that takes.
    #[arg(long, conflicts_with = "now")]
    drain: bool,

    /// Do not wait for calls that are under way: they are ended, and their agents are told so when they go on.
    #[arg(long)]
    now: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let farewell = match (args.drain, args.now) {
        (true, _) => Farewell::Drain,
        (false, true) => Farewell::Now,
        (false, false) => Farewell::Rest,
    };
    if farewell == Farewell::Drain {
        context.output.say(
            "nothing new is started; waiting for the tasks that run (Ctrl-C leaves it to end by itself)",
        );
    }
    let Some(stopped) = context.system()?.stop_daemon(farewell)? else {
        context.output.say("no daemon is running");
        context.output.text("", &json!({ "stopped": false }))?;
        return Ok(ExitCode::SUCCESS);
    };
    told(context, &stopped);
    let Stopped { holder, was_killed, runners, others } = &stopped;
    let rested: Vec<String> = runners.sessions.iter().map(ToString::to_string).collect();
    let left: Vec<_> =
        runners.left.iter().map(|one| json!({ "session": one.session, "process": one.process })).collect();
    let row = json!({ "stopped": true, "process": holder.process.process, "killed": was_killed,
        "rested": rested, "left": left, "others": others });
    context.output.text("", &row)?;
    Ok(ExitCode::SUCCESS)
}

fn told(context: &Context, stopped: &Stopped) {
    let Stopped { holder, was_killed, runners, others } = stopped;
    let how = if *was_killed { "did not heed the request and was killed" } else { "has ended" };
    context.output.say(&format!("the daemon, {}, {how}", holder.in_words()));
    if !runners.sessions.is_empty() {
        let sessions = count(runners.sessions.len() as u64, "session");
        context.output.say(&format!("{sessions} wait for whoever serves next; nothing of them is lost"));
    }
    for one in &runners.left {
        context.output.say(&format!(
            "session {} is at something that is not cut; its runner, process {}, lets go of it afterwards",
            one.session, one.process
        ));
    }
    if *others > 0 {
        let sessions = count(*others as u64, "session");
        context.output.say(&format!("{sessions} that the daemon did not start are at work and go on"));
    }
}
