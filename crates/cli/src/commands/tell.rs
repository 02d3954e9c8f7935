//! `longhaul tell`: a person's words to whoever works on a task.

use std::process::ExitCode;

use longhaul_runtime::{Hearing, ToldTask};
use serde::Serialize;

use super::task::find;
use crate::context::Context;
use crate::error::CliError;
use crate::input;
use crate::output::count;

/// Say something to whoever works on a task: the agents that are at it now, and all that are started for it later.
///
/// It steers and decides nothing: no gate is opened by it, no budget or policy changed, and what is parked stays parked. If
/// nothing runs, it is given to the next attempt.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The task, the beginning of its id, or one of its sessions.
    #[arg(value_name = "TASK")]
    task: String,

    /// What to say; `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    text: String,
}

#[derive(Debug, Serialize)]
struct Said {
    task: String,
    heard_by: Vec<Heard>,
}

#[derive(Debug, Serialize)]
struct Heard {
    session: String,
    with: &'static str,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (_, view) = find(&system, &args.task)?;
    let text = input::text("the text", &args.text)?;
    let said = system.tell(&system.commands()?, view.id, &text)?;
    let with = |hearing: Hearing| match hearing {
        Hearing::NextTurn => "next_turn",
        Hearing::NextStep => "next_step",
    };
    let heard_by = said
        .heard_by
        .iter()
        .map(|(session, hearing)| Heard { session: session.to_string(), with: with(*hearing) });
    context.output.text("", &Said { task: said.task.to_string(), heard_by: heard_by.collect() })?;
    told(&said).iter().for_each(|remark| context.output.say(remark));
    Ok(ExitCode::SUCCESS)
}

/// Who hears it, and when.
pub(super) fn told(said: &ToldTask) -> Vec<String> {
    let number =
        |wanted: Hearing| said.heard_by.iter().filter(|(_, hearing)| *hearing == wanted).count() as u64;
    let (now, later) = (number(Hearing::NextTurn), number(Hearing::NextStep));
    let mut remarks = Vec::new();
    if now > 0 {
        remarks.push(format!("heard with the next turn by {}", count(now, "session")));
    }
    if later > 0 {
        remarks.push(format!(
            "heard with the next step by {}, which waits for something now",
            count(later, "session")
        ));
    }
    match said.heard_by.first() {
        Some((session, _)) => {
            remarks.push("what is started for the task later is told it too".to_owned());
            remarks.push(format!("next: longhaul session tail {session}  # what it does with it"));
        }
        None => remarks.push("nobody is at work on it, so it is given to the next attempt".to_owned()),
    }
    remarks
}
