//! `longhaul inbox reply`: answers a question, or tells the agent of what is stuck how to go on.

use std::process::ExitCode;

use longhaul_runtime::{Hearing, Replied};
use serde::Serialize;

use super::find;
use crate::commands::tell::told;
use crate::context::Context;
use crate::error::CliError;
use crate::input;

/// Answer a question, or tell the agent of what is stuck how to go on. It opens no gate.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The entry, the beginning of its id, or the session or task that it is about.
    #[arg(value_name = "ID")]
    entry: String,

    /// What to say; the number of an option stands for it. `-` reads standard input, `@FILE` a file.
    #[arg(value_name = "TEXT|-|@FILE", allow_hyphen_values = true)]
    text: String,
}

#[derive(Debug, Serialize)]
struct Said {
    id: String,
    words: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let entry = find(&system, &args.entry)?;
    let text = input::text("the text", &args.text)?;
    let replied = system.reply(&system.commands()?, &entry, &text)?;
    let (words, remarks) = match replied {
        Replied::Answered { words, hearing } => {
            let remark = match hearing {
                Some(Hearing::NextTurn) => "the agent hears it with its next turn",
                Some(Hearing::NextStep) => "the agent hears it with its next step",
                None => {
                    "its agent is not ours or is gone, so nobody there hears it; it is on record for the task"
                }
            };
            let remark = format!("answered with `{words}`; {remark}");
            (words, vec![remark])
        }
        Replied::Steered(session) => {
            let next = format!("next: longhaul session tail {session}  # what it does with it");
            (text, vec!["the agent goes on with it".to_owned(), next])
        }
        Replied::Kept(kept) => (text, told(&kept)),
    };
    context.output.text("", &Said { id: entry.id.to_string(), words })?;
    remarks.iter().for_each(|remark| context.output.say(remark));
    Ok(ExitCode::SUCCESS)
}
