//! Where a session stands, in words for an agent: the step, what was wrong, and what to call next.

use std::fmt::Write as _;

use longhaul_runtime::types::{
    COMPLETE_STEP, Channel, GateView, NotesRequired, Reason, Requires, StepView, channel_word,
};

use crate::refusal::Refusal;

/// Who is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// An agent that a person drives.
    Outer,
    /// An agent that works on one session and has other tools.
    Leaf,
}

/// The step first, then everything that is needed to go on. What was not accepted comes before it: the step was read
/// already, and what is wrong with the answer was not.
pub(crate) fn step(view: &StepView, audience: Audience) -> String {
    let mut text = String::new();
    let is_refused = view.blocked.is_some() && view.continue_token.is_some();
    if is_refused {
        text += &reasons(view, "Not accepted:\n");
        text.push('\n');
    }
    if let Some(prompt) = &view.prompt {
        text += prompt.trim_end();
        text += "\n\n---\n";
    }
    text += &heading(view);
    for warning in &view.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    if !is_refused {
        text += &reasons(view, "Stopped:\n");
    }
    if let Some(gate) = &view.gate {
        text += &gate_words(gate);
    }
    text + &next(view, audience)
}

fn reasons(view: &StepView, heading: &str) -> String {
    let Some(blocked) = &view.blocked else { return String::new() };
    let reason = |reason: &Reason| format!("- {}\n  fix: {}\n", reason.message, reason.fix);
    std::iter::once(heading.to_owned()).chain(blocked.reasons.iter().map(reason)).collect()
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

/// For an agent whose person would not answer.
pub(crate) const DECLINED: &str = "The person was asked and declined to answer: the gate stays shut. Do not ask again by \
    yourself; tell them where the session stands, and stop here.";

/// For an agent whose person was quicker elsewhere.
pub(crate) const ANSWERED_ELSEWHERE: &str = "The gate was answered in another place meanwhile; what was said here does \
    not count. This is where the session stands now.";

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

fn next(view: &StepView, audience: Audience) -> String {
    let mut text = String::new();
    let (hand_in, look) = match audience {
        Audience::Outer => ("continue_workflow", "call `resume_session` with this session's id"),
        Audience::Leaf => (COMPLETE_STEP, "call `complete_step` without arguments"),
    };
    if let Some(token) = &view.continue_token {
        let _ = writeln!(text, "continueToken: {token}");
    }
    if let Some(token) = view.checkpoint_token.as_ref().filter(|_| audience == Audience::Outer) {
        let _ = writeln!(text, "checkpointToken: {token}");
    }
    if let (Some(_), Some(requires)) = (&view.continue_token, &view.requires) {
        let wanted = wanted(requires, audience);
        let _ = writeln!(text, "next: do the step, then call `{hand_in}` with {wanted}.");
    } else if view.working.is_some() {
        let _ =
            writeln!(text, "next: the engine is at work; make the same call again in a moment, or {look}.");
    } else if view.gate.is_some() {
        let _ = writeln!(text, "next: when the person has answered, make the same call again, or {look}.");
    } else if view.is_complete {
        text += "The workflow is complete. There is nothing more to call.\n";
    } else {
        let _ = writeln!(
            text,
            "next: nothing that you can call helps; tell the person, who looks at it with `longhaul session show {}`.",
            view.session_id
        );
    }
    text
}

/// What the arguments are called.
struct Names {
    notes: &'static str,
    vars: &'static str,
    artifacts: &'static str,
    /// What says that there is nothing to say.
    nothing: &'static str,
}

impl Audience {
    const fn names(self) -> Names {
        match self {
            Self::Outer => Names {
                notes: "output.notesMarkdown",
                vars: "context",
                artifacts: "output.artifacts",
                nothing: "intent: advance",
            },
            Self::Leaf => {
                Names { notes: "notes", vars: "vars", artifacts: "artifacts", nothing: "artifacts: []" }
            }
        }
    }
}

/// What an answer needs, by the names of the arguments.
fn wanted(requires: &Requires, audience: Audience) -> String {
    let names = audience.names();
    let mut parts = vec!["this continueToken".to_owned()];
    match requires.notes {
        NotesRequired::Yes => parts.push(format!("`{}`", names.notes)),
        NotesRequired::Optional => {
            parts.push(format!("`{}` if there is something to tell", names.notes));
        }
        NotesRequired::No => {}
    }
    if !requires.context_keys.is_empty() {
        let keys = quoted(requires.context_keys.iter().map(String::as_str));
        parts.push(format!("`{}` with {keys}", names.vars));
    }
    let contracts = requires.contracts.iter().filter(|contract| contract.required);
    let asked = contracts.map(|contract| contract.reference.as_str());
    let artifacts: Vec<&str> = asked.chain(requires.assessments.iter().map(|one| one.id.as_str())).collect();
    if !artifacts.is_empty() {
        parts.push(format!("`{}` with {}", names.artifacts, quoted(artifacts.into_iter())));
    }
    if parts.len() == 1 {
        parts.push(format!("`{}`", names.nothing));
    }
    parts.join(", ")
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
