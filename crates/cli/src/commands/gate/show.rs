//! `longhaul gate show`: one gate, with what led to it.

use std::process::ExitCode;

use longhaul_runtime::types::{Channel, GateVerdict};
use longhaul_runtime::{GateEntry, GateState};

use super::find;
use crate::commands::artifact::written;
use crate::context::Context;
use crate::error::CliError;
use crate::moment;
use crate::output::lines;

/// Show what a gate asks, what led to it, and what became of it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The gate, such as `s-041061050r3gg.12`, or its session; the session's id may be shortened.
    #[arg(value_name = "ID")]
    gate: String,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let gate = find(&context.system()?, &args.gate)?;
    let mut text: String = about(&gate).iter().map(|line| lines(line, "")).collect();
    text += &lines(&state(&gate), "");
    context.output.text(&text, &gate)?;
    Ok(ExitCode::SUCCESS)
}

/// What a person should know before they decide.
pub(super) fn about(gate: &GateEntry) -> Vec<String> {
    let workflow = gate.workflow.as_deref().unwrap_or("-");
    let mut about = vec![
        format!("Gate {} of `{workflow}`, step `{}`", gate.id, gate.step),
        format!("Goal: {}", gate.goal),
    ];
    if let Some(before) = &gate.before {
        about.push(format!("Before it, `{}` was answered:", before.step));
        let notes = before.notes.iter().flat_map(|notes| notes.lines()).map(|line| format!("  {line}"));
        about.extend(notes);
        about.extend(before.vars.iter().map(|(name, value)| format!("  {name} = {value}")));
        for artifact in &before.artifacts {
            about.push(format!("  artifact {}:", artifact.id));
            about.extend(written(&artifact.value).lines().map(|line| format!("    {line}")));
        }
    }
    about.push("Question:".to_owned());
    about.extend(gate.question.lines().map(|line| format!("  {line}")));
    about
}

/// What became of it, or what can.
pub(super) fn state(gate: &GateEntry) -> String {
    let until = moment::shown(&gate.until);
    match &gate.state {
        GateState::Open if gate.accepts_channel <= Channel::Terminal => {
            format!("Open until {until}; `longhaul gate approve {}` or `reject` answers it", gate.id)
        }
        GateState::Open => {
            format!(
                "Open until {until}; it takes an answer by `{}` or stronger, not at a terminal",
                gate.accepts
            )
        }
        GateState::Overdue => format!("Nobody answered before {until}; the session fails"),
        GateState::Answered { verdict, by, words, at, .. } => {
            let verdict = match verdict {
                GateVerdict::Approved => "Approved",
                GateVerdict::Rejected => "Rejected",
            };
            let words = if words.is_empty() { String::new() } else { format!(": {words}") };
            format!("{verdict} by {by} at {}{words}", moment::shown(at))
        }
        GateState::Expired => "Nobody answered in time".to_owned(),
        GateState::Left => "The session went on without an answer".to_owned(),
    }
}
