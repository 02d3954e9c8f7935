//! Where a session stands, as a person reads it: the step, what was wrong, and what to type next.

use std::fmt::Write as _;
use std::io::{Write as _, stderr};
use std::process::ExitCode;

use longhaul_runtime::types::{
    ATTEMPTS_LEFT, Blocked, Channel, GateView, NotesRequired, Requires, StepView, channel_word,
};

use crate::context::Context;
use crate::error::{CliError, REFUSED};
use crate::moment;
use crate::output::lines;

/// The one object for scripts, the same in words for people. What is stopped exits as refused, whatever led there.
pub(crate) fn show(context: &Context, view: &StepView) -> Result<ExitCode, CliError> {
    context.output.text(&words(view), view)?;
    Ok(exit(view))
}

/// One line for a person who waits for what a runner does.
pub(crate) fn tell_of_work(view: &StepView) {
    let (Some(step), Some(working)) = (&view.step_id, &view.working) else { return };
    let title = view.title.as_ref().map(|title| format!(" ({title})")).unwrap_or_default();
    let since = moment::local(&working.since);
    let line =
        lines(&format!("waiting for step `{step}`{title}, at work since {since}").replace('\n', " "), "");
    // Nobody can be told that standard error is gone.
    let _ = stderr().write_all(line.as_bytes());
}

pub(crate) fn exit(view: &StepView) -> ExitCode {
    if view.blocked.is_some() { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS }
}

fn words(view: &StepView) -> String {
    let refusal = view.blocked.as_ref().map(|blocked| blocked_words(view, blocked)).unwrap_or_default();
    let mut text = String::new();
    if let Some(prompt) = &view.prompt {
        // Whoever was refused knows the step, and must not look for the refusal below it.
        if !refusal.is_empty() {
            text += &refusal;
            text.push('\n');
        }
        text += &lines(prompt, "");
        text.push('\n');
    }
    text += &lines(&heading(view), "");
    for warning in &view.warnings {
        text += &lines(&format!("warning: {warning}"), "  ");
    }
    if view.prompt.is_none() {
        text += &refusal.lines().flat_map(|line| ["  ", line, "\n"]).collect::<String>();
    }
    if let Some(gate) = &view.gate {
        text += &gate_words(gate);
    }
    text + &next(view)
}

fn blocked_words(view: &StepView, blocked: &Blocked) -> String {
    let mut text = lines(if view.continue_token.is_some() { "Not accepted:" } else { "Stopped:" }, "");
    let (left, reasons): (Vec<_>, Vec<_>) =
        blocked.reasons.iter().partition(|reason| reason.code == ATTEMPTS_LEFT);
    for reason in reasons {
        text += &lines(&format!("- {}", reason.message), "");
        text += &lines(&format!("  fix: {}", reason.fix), "");
    }
    text + &left.iter().map(|reason| lines(&format!("{}.", reason.message), "")).collect::<String>()
}

fn heading(view: &StepView) -> String {
    let mut heading = format!("Session {}", view.session_id);
    if view.is_complete {
        heading += " is complete";
    }
    if let Some(step) = &view.step_id {
        let _ = write!(heading, ", step `{step}`");
        if let Some(title) = &view.title {
            let _ = write!(heading, " ({title})");
        }
    }
    let _ = write!(heading, ", {} of {} steps done", view.progress.done, view.progress.total);
    heading
}

fn gate_words(gate: &GateView) -> String {
    let mut text = lines(&format!("Gate {}:", gate.id), "  ");
    text += &lines(&gate.question, "    ");
    text
}

/// What to type to go on.
fn next(view: &StepView) -> String {
    let id = &view.session_id;
    let mut commands = Vec::new();
    if let (Some(token), Some(requires)) = (&view.continue_token, &view.requires) {
        commands.push(format!("longhaul session advance {token}{}", flags(requires)));
    }
    if let Some(token) = &view.checkpoint_token {
        commands.push(format!("longhaul session checkpoint {token} --notes TEXT  # notes on the way"));
    }
    match &view.gate {
        Some(gate) if gate.accepts <= Channel::Terminal => {
            commands.push(format!("longhaul gate approve {}  # or `reject`; a person's to say", gate.id));
        }
        Some(gate) => commands.push(format!(
            "nothing at this terminal: the gate takes an answer by `{}` or stronger",
            channel_word(gate.accepts)
        )),
        None => {}
    }
    if let Some(waits) = view.working.as_ref().and_then(|working| working.waits_for.as_ref()) {
        commands.push(format!("longhaul session show {id}  # {waits}"));
    } else if let Some(working) = &view.working {
        let since = moment::shown(&working.since);
        commands.push(format!("longhaul session resume {id}  # at work since {since}; ask again"));
    }
    if view.is_complete {
        commands.push(format!("longhaul session show {id}  # what was done"));
        commands.push(format!("longhaul session continue {id} TEXT  # asks for more"));
    }
    // Its prompt is not shown, because an agent of ours does it.
    if commands.is_empty() && view.step_id.is_some() && view.blocked.is_none() {
        commands.push(format!("longhaul session tail {id}  # follows it"));
    }
    if commands.is_empty() {
        commands.push(format!("longhaul session show {id}  # what happened"));
    }
    commands.iter().map(|command| lines(&format!("next: {command}"), "  ")).collect()
}

/// The flags that an answer needs.
fn flags(requires: &Requires) -> String {
    let mut flags = String::new();
    if requires.notes == NotesRequired::Yes {
        flags += " --notes TEXT";
    }
    if !requires.context_keys.is_empty() {
        let keys: Vec<String> = requires.context_keys.iter().map(|key| format!("\"{key}\": …")).collect();
        let _ = write!(flags, " --vars '{{{}}}'", keys.join(", "));
    }
    for contract in requires.contracts.iter().filter(|contract| contract.required) {
        let _ = write!(flags, " --artifact @{}.json", contract.reference);
    }
    for assessment in &requires.assessments {
        let _ = write!(flags, " --artifact @{}.json", assessment.id);
    }
    flags
}
