//! Every text of a step that is a template.

use super::super::prompt::{Blocks, Body, FollowUp, Prompt};
use super::super::step::{Child, Gate, GateBy, Run, RunWhat};
use super::super::{Step, StepKind};

/// The texts of the step itself, not of steps inside it.
pub fn texts(step: &Step) -> Vec<&str> {
    let mut texts = vec![step.title.as_str()];
    texts.extend(step.role.as_deref());
    texts.extend(step.system_prompt.as_deref());
    texts.extend(step.guidance.iter().map(String::as_str));
    match &step.kind {
        StepKind::Prompt(prompt) => of_prompt(prompt, &mut texts),
        StepKind::Gate(gate) => of_gate(gate, &mut texts),
        StepKind::Run(run) => of_run(run, &mut texts),
        StepKind::Parallel(parallel) => {
            parallel.children.iter().for_each(|child| of_child(child, &mut texts));
        }
        StepKind::Spawn(spawn) => of_child(&spawn.child, &mut texts),
        StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Gather(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => {}
    }
    texts
}

fn of_prompt<'a>(prompt: &'a Prompt, texts: &mut Vec<&'a str>) {
    match &prompt.body {
        Body::Text(text) => texts.push(text),
        Body::Blocks(blocks) => of_blocks(blocks, texts),
    }
    texts.extend(prompt.fragments.iter().map(|fragment| fragment.text.as_str()));
    texts.extend(prompt.functions.iter().map(|function| function.definition.as_str()));
    for consequence in prompt.assessments.iter().flat_map(|assessment| &assessment.consequences) {
        match &consequence.then {
            FollowUp::Guidance(guidance) => texts.push(guidance),
            FollowUp::Redo(recipe) => texts.extend(recipe.iter().map(String::as_str)),
        }
    }
    if let Some(audit) = &prompt.audit {
        texts.extend(audit.prompt.as_deref());
        texts.extend(audit.rubric.iter().map(String::as_str));
    }
    if let Some(verification) = &prompt.verification {
        texts.extend(verification.command.as_deref());
        texts.extend(verification.prompt.as_deref());
    }
}

fn of_blocks<'a>(blocks: &'a Blocks, texts: &mut Vec<&'a str>) {
    texts.extend(blocks.goal.as_deref());
    texts.extend(blocks.constraints.iter().map(String::as_str));
    texts.extend(blocks.procedure.iter().map(String::as_str));
    texts.extend(blocks.output_required.iter().map(|(_, text)| text.as_str()));
    texts.extend(blocks.verify.iter().map(String::as_str));
}

fn of_gate<'a>(gate: &'a Gate, texts: &mut Vec<&'a str>) {
    texts.push(&gate.question);
    match &gate.by {
        GateBy::Check(run) => of_run(run, texts),
        GateBy::Person | GateBy::Coordinator { .. } => {}
    }
}

fn of_run<'a>(run: &'a Run, texts: &mut Vec<&'a str>) {
    match &run.what {
        RunWhat::Command(command) => texts.extend(command.iter().map(String::as_str)),
        RunWhat::Checks(_) | RunWhat::Declared(_) => {}
    }
}

fn of_child<'a>(child: &'a Child, texts: &mut Vec<&'a str>) {
    texts.extend(child.goal.as_deref());
    texts.extend(child.with.values().filter_map(serde_json::Value::as_str));
}
