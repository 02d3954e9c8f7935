//! Where a session stands, in words for an agent: the step, what was wrong, and what to call next.

use std::fmt::Write as _;

use longhaul_runtime::types::{Channel, GateView, Requires, StepView, channel_word};

use crate::refusal::Refusal;

/// The step first, then everything that is needed to go on.
pub(crate) fn step(view: &StepView) -> String {
    let mut text = String::new();
    if let Some(prompt) = &view.prompt {
        text += prompt.trim_end();
        text += "\n\n---\n";
    }
    text += &heading(view);
    for warning in &view.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if let Some(blocked) = &view.blocked {
        text += if view.continue_token.is_some() { "Not accepted:\n" } else { "Stopped:\n" };
        for reason in &blocked.reasons {
            let _ = writeln!(text, "- {}\n  fix: {}", reason.message, reason.fix);
        }
    }
    if let Some(gate) = &view.gate {
        text += &gate_words(gate);
    }
    text + &next(view)
}

/// What went wrong, with the page that says more.
pub(crate) fn error(refusal: &Refusal) -> String {
    match refusal.code {
        Some(code) => format!("error[{code}]: {}\n", refusal.message),
        None => format!("error: {}\n", refusal.message),
    }
}

fn heading(view: &StepView) -> String {
    let mut heading = format!("Session {}", view.session_id);
    if let Some(step) = &view.step_id {
        let _ = write!(heading, ", step `{step}`");
        if let Some(title) = view.title.as_ref().filter(|title| *title != step) {
            let _ = write!(heading, " ({title})");
        }
    }
    let _ = writeln!(heading, ", {} of {} steps done", view.progress.done, view.progress.total);
    heading
}

/// What a gate means for whoever came to it.
pub(crate) fn stop(gate: &GateView) -> String {
    let way = if gate.accepts <= Channel::Terminal {
        format!(
            "A person opens it with `longhaul gate approve {}` in a terminal of their own (or `reject`).",
            gate.id
        )
    } else {
        format!(
            "It takes an answer by `{}` or stronger; a person gives it there.",
            channel_word(gate.accepts)
        )
    };
    format!("{way} You cannot open it, and nothing that you hand in does: tell the person, and stop here.")
}

fn gate_words(gate: &GateView) -> String {
    format!("Waiting for a person at gate {}:\n{}\n{}\n", gate.id, gate.question.trim_end(), stop(gate))
}

fn next(view: &StepView) -> String {
    let mut text = String::new();
    if let Some(token) = &view.continue_token {
        let _ = writeln!(text, "continueToken: {token}");
    }
    if let Some(token) = &view.checkpoint_token {
        let _ = writeln!(text, "checkpointToken: {token}");
    }
    if let (Some(_), Some(requires)) = (&view.continue_token, &view.requires) {
        let _ = writeln!(text, "next: do the step, then call `continue_workflow` with {}.", wanted(requires));
    } else if view.working.is_some() {
        text += "next: the engine is at work; make the same call again in a moment, or call `resume_session` with \
                 this session's id.\n";
    } else if view.gate.is_some() {
        text += "next: when the person has answered, make the same call again, or call `resume_session` with this \
                 session's id.\n";
    } else if view.is_complete {
        text += "The workflow is complete. There is nothing more to call.\n";
    } else {
        let _ =
            writeln!(text, "next: a person looks at it with `longhaul session show {}`.", view.session_id);
    }
    text
}

/// What an answer needs, by the names of the arguments.
fn wanted(requires: &Requires) -> String {
    let mut parts = vec!["this continueToken".to_owned()];
    match &requires.notes {
        notes if *notes == true => parts.push("`output.notesMarkdown`".to_owned()),
        notes if *notes == "optional" => {
            parts.push("`output.notesMarkdown` if there is something to tell".to_owned());
        }
        _ => {}
    }
    if !requires.context_keys.is_empty() {
        parts.push(format!("`context` with {}", quoted(requires.context_keys.iter().map(String::as_str))));
    }
    let contracts = requires.contracts.iter().filter(|contract| contract.required);
    let asked = contracts.map(|contract| contract.reference.as_str());
    let artifacts: Vec<&str> = asked.chain(requires.assessments.iter().map(|one| one.id.as_str())).collect();
    if !artifacts.is_empty() {
        parts.push(format!("`output.artifacts` with {}", quoted(artifacts.into_iter())));
    }
    if parts.len() == 1 {
        parts.push("`intent: advance`".to_owned());
    }
    parts.join(", ")
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
