//! `longhaul inbox show`: one entry, with what can be done about it.

use std::process::ExitCode;

use longhaul_runtime::types::{Entry, rfc3339};

use super::find;
use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::lines;

/// Show an entry: what it is about, what may be answered, and the commands for it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The entry, the beginning of its id, or the gate, session or task that it is about.
    #[arg(value_name = "ID")]
    entry: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let entry = find(&context.system()?, &args.entry)?;
    context.output.text(&words(&entry), &entry)?;
    Ok(ExitCode::SUCCESS)
}

fn words(entry: &Entry) -> String {
    let mut text = lines(&entry.title, "");
    text += &lines(&entry.text, "  ");
    for (option, number) in entry.options.iter().zip(1..) {
        text += &lines(&format!("{number}. {option}"), "  ");
    }
    if let Some(default) = &entry.default {
        text += &lines(&format!("without an answer: {default}"), "  ");
    }
    let subjects = [
        entry.task.map(|task| format!("task {task}")),
        entry.session.map(|session| format!("session {session}")),
    ];
    let subjects: Vec<String> = subjects.into_iter().flatten().collect();
    let about = format!("{} {}, {}", entry.kind.word(), entry.id, entry.urgency.word());
    text += &lines(&[vec![about], subjects].concat().join(", "), "");
    let until = entry.until.map(|until| format!(", until {}", moment::shown(&rfc3339(until))));
    text +=
        &lines(&format!("since {}{}", moment::shown(&rfc3339(entry.since)), until.unwrap_or_default()), "");
    for remedy in &entry.remedies {
        text += &lines(&format!("next: {}  # {}", remedy.command, remedy.does), "");
    }
    text
}
