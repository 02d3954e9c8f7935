//! Whether a prompt step accepts an answer.

use serde_json::{Map, Value};

use super::super::prompt::{Notes, Prompt};
use super::super::scope::Scope;
use super::super::{Step, StepKind, Workflow};
use super::limits::judge_vars;
use super::vars::Given;
use super::{Accepted, Answer, Reason, artifacts, rules, vars};

/// Says whether a prompt step accepts an answer, and what that changes. Every problem is told at once.
pub fn check(
    workflow: &Workflow,
    step: &Step,
    scope: &Scope<'_>,
    answer: &Answer,
) -> Result<Accepted, Vec<Reason>> {
    match &step.kind {
        StepKind::Prompt(prompt) => check_prompt(&Given { workflow, prompt, scope, answer }),
        StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => Err(vec![Reason::new(
            "not_a_prompt",
            format!("step `{}` is a {} step, which no agent answers", step.id, step.kind.word()),
            "ask for the current step",
        )]),
    }
}

/// What is wrong with vars that are kept for a step and set by nobody yet.
pub fn check_vars(
    workflow: &Workflow,
    step: &Step,
    scope: &Scope<'_>,
    vars: &Map<String, Value>,
) -> Vec<Reason> {
    let StepKind::Prompt(prompt) = &step.kind else { return Vec::new() };
    let mut reasons = Vec::new();
    judge_vars(vars, &mut reasons);
    let answer = Answer { vars: vars.clone(), ..Answer::default() };
    vars::take(&Given { workflow, prompt, scope, answer: &answer }, &mut Accepted::default(), &mut reasons);
    reasons
}

fn check_prompt(given: &Given<'_>) -> Result<Accepted, Vec<Reason>> {
    let mut accepted = Accepted::default();
    let notes = given.answer.notes.as_deref().unwrap_or_default();
    let mut reasons = Vec::new();
    reasons.extend(judge_notes(given.prompt, notes));
    reasons.extend(rules::judge(&given.prompt.validate, notes, given.scope));
    vars::take(given, &mut accepted, &mut reasons);
    artifacts::take(given, &mut accepted, &mut reasons);
    vars::judge_produced(given, &accepted, &mut reasons);
    if reasons.is_empty() { Ok(accepted) } else { Err(reasons) }
}

fn judge_notes(prompt: &Prompt, notes: &str) -> Option<Reason> {
    let blank = notes.trim().is_empty();
    match prompt.notes {
        Notes::Required if blank => Some(Reason::new(
            "notes_missing",
            "the step wants notes, and there are none",
            "write in `notes` what you did, what you found and how you know it",
        )),
        Notes::None if !blank => {
            Some(Reason::new("notes_refused", "the step takes no notes", "leave out `notes`"))
        }
        Notes::Required | Notes::Optional | Notes::None => None,
    }
}
