//! The last section of a step: what to hand in, in a form that can be filled in and sent.

use serde_json::json;

use super::super::answer::{AssessmentRequired, ContractRequired, DimensionRequired, requirements};
use super::super::prompt::{Notes, OneRule, Prompt, Rule};
use super::super::{Step, StepKind, VarType, VarWriter, Vars, Workflow};
use super::{Page, bullet, fenced};

pub(super) fn write(page: &mut Page<'_>, workflow: &Workflow, step: &Step) {
    let StepKind::Prompt(prompt) = &step.kind else { return };
    let requires = requirements(workflow, step);
    page.add("## What to hand in");
    let mut lines = notes(prompt);
    lines.extend(vars(workflow, prompt));
    page.add(&lines.join("\n"));
    let is_several = requires.contracts.len() + requires.assessments.len() > 1;
    for contract in requires.contracts.iter().filter(|contract| !is_told_elsewhere(contract, prompt)) {
        let naming = contract.kind.as_deref().filter(|_| is_several);
        page.add(&describe_contract(contract, naming));
    }
    for assessment in &requires.assessments {
        page.add(&describe_assessment(assessment));
    }
    if let Some(control) = &prompt.control {
        let example = json!({"kind": "wr.loop_control", "loopId": control.loop_id, "decision": "continue"});
        let is_optional = requires.contracts.iter().any(|contract| {
            !contract.required
                && is_told_elsewhere(contract, prompt)
                && contract.kind.as_deref() != Some("wr.assessment")
        });
        let demand = if is_optional { "Optional; without one it goes on." } else { "Required." };
        page.add(&format!(
            "In `artifacts`, your decision about the loop: `continue` for another round, `stop` to leave it. {demand}\n\n{}",
            fenced("json", &example.to_string())
        ));
    }
}

fn notes(prompt: &Prompt) -> Vec<String> {
    let mut lines = vec![match prompt.notes {
        Notes::Required => {
            "- `notes`: what you did, what you found and how you know it. Required.".to_owned()
        }
        Notes::Optional => "- `notes`: what the next step should know. Optional.".to_owned(),
        Notes::None => "- No `notes`.".to_owned(),
    }];
    if !prompt.validate.is_empty() {
        lines.push("- The notes must meet these rules:".to_owned());
        lines.extend(prompt.validate.iter().map(|rule| bullet("  - ", &describe_rule(rule))));
    }
    lines
}

fn describe_rule(rule: &Rule) -> String {
    let joined = |rules: &[Rule], word: &str| rules.iter().map(describe_rule).collect::<Vec<_>>().join(word);
    match rule {
        Rule::One(rule) => {
            let OneRule { message, when, demand: _ } = rule.as_ref();
            if when.is_some() { format!("{message} (under a condition)") } else { message.clone() }
        }
        Rule::All(rules) => joined(rules, "; and "),
        Rule::Any(rules) => format!("one of: {}", joined(rules, "; or ")),
        Rule::Not(rule) => format!("not: {}", describe_rule(rule)),
    }
}

fn vars(workflow: &Workflow, prompt: &Prompt) -> Vec<String> {
    let required = prompt.produces.iter().map(|(name, kind)| format!("`{name}` ({})", word(kind)));
    let required: Vec<String> = required.collect();
    let optional: Vec<String> = match &workflow.vars {
        Vars::Open => Vec::new(),
        Vars::Declared(declared) => declared
            .iter()
            .filter(|(name, declaration)| {
                declaration.writer == VarWriter::Agent && !prompt.produces.contains_key(*name)
            })
            .map(|(name, declaration)| format!("`{name}` ({})", word(&declaration.kind)))
            .collect(),
    };
    let mut lines = Vec::new();
    if !required.is_empty() {
        lines.push(format!("- `vars`: set {}. Required.", required.join(", ")));
    }
    if !optional.is_empty() {
        lines.push(format!("- `vars`: you may set {}.", optional.join(", ")));
    }
    lines
}

fn word(kind: &VarType) -> String {
    super::super::answer::type_word(kind)
}

/// Control artifacts and assessments are described by what this step makes of them.
fn is_told_elsewhere(contract: &ContractRequired, prompt: &Prompt) -> bool {
    let kind = contract.kind.as_deref().unwrap_or(&contract.reference);
    let is_control = kind.ends_with("loop_control") && prompt.control.is_some();
    let is_assessment = kind == "wr.assessment" && !prompt.assessments.is_empty();
    is_control || is_assessment
}

fn describe_contract(contract: &ContractRequired, naming: Option<&str>) -> String {
    let ContractRequired { reference, kind: _, required, schema, example } = contract;
    let demand = if *required { "Required" } else { "Optional" };
    let naming = naming
        .map(|kind| format!(" Mark it with `\"kind\": \"{kind}\"`, because there are several."))
        .unwrap_or_default();
    format!(
        "In `artifacts`, `{reference}`. {demand}.{naming} It must fit this JSON Schema:\n\n{}\n\nFor example:\n\n{}",
        fenced("json", &schema.to_string()),
        fenced("json", &example.to_string())
    )
}

fn describe_assessment(assessment: &AssessmentRequired) -> String {
    let AssessmentRequired { id, purpose, example, dimensions } = assessment;
    let line = |dimension: &DimensionRequired| {
        let DimensionRequired { id, purpose, levels, required } = dimension;
        let optional = if *required { "" } else { " Optional." };
        let purpose = if purpose.is_empty() { String::new() } else { format!(" {purpose}") };
        bullet("- ", &format!("`{id}`: one of `{}`.{optional}{purpose}", levels.join("`, `")))
    };
    let lines: Vec<String> = dimensions.iter().map(line).collect();
    let purpose = if purpose.is_empty() { String::new() } else { format!(" {purpose}") };
    format!(
        "In `artifacts`, the assessment `{id}`.{purpose} Choose a level for each dimension:\n\n{}\n\nFor example, with \
         levels that are yours to choose; a level may also stand alone (`\"{}\": \"…\"`), without its rationale:\n\n{}",
        lines.join("\n"),
        dimensions.first().map_or("dimension", |dimension| dimension.id.as_str()),
        fenced("json", &example.to_string())
    )
}
