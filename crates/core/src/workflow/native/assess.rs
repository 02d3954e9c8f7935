//! `assess`: levels from the agent, consequences by the engine's rules.

use super::step::Reading;
use super::{Fields, Node, NodeValue, Reader, prompt};
use crate::workflow::document::Key;
use crate::workflow::fields::{Findings, text_of};
use crate::workflow::prompt::{Assessment, Body, Consequence, Dimension, FollowUp, LevelTest};
use crate::workflow::step::StepKind;
use crate::workflow::suggest::or_known;

impl Reader<'_> {
    pub(super) fn assess_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let assessment = reading.fields.map("assess").map(|map| assessment(map, reading.id));
        let body = reading.fields.node("prompt").and_then(|node| prompt::body(node, self.findings));
        let body = body.unwrap_or_else(|| Body::Text(default_text(reading.title, assessment.as_ref())));
        let mut prompt = self.prompt(reading, body);
        prompt.assessments = vec![assessment?];
        Some(StepKind::Prompt(Box::new(prompt)))
    }
}

fn assessment(mut fields: Fields<'_>, id: &str) -> Assessment {
    let findings = fields.findings();
    let purpose = fields.text("purpose").unwrap_or_default();
    fields.required("dimensions");
    let dimensions: Vec<Dimension> = fields
        .entries("dimensions")
        .iter()
        .filter_map(|(key, node)| dimension(key, node, findings))
        .collect();
    let rules = fields.list("rules");
    let consequences = rules.iter().filter_map(|node| consequence(node, &dimensions, findings)).collect();
    fields.finish();
    Assessment { id: id.to_owned(), purpose, dimensions, consequences }
}

/// A list of levels, or a map with `levels`, `purpose` and `required`.
fn dimension(key: &Key, node: &Node, findings: &Findings) -> Option<Dimension> {
    let mut dimension =
        Dimension { id: key.name.clone(), purpose: String::new(), levels: Vec::new(), required: true };
    let levels = if let NodeValue::Map(_) = node.value {
        let mut fields = Fields::of(node, "a dimension", findings)?;
        dimension.purpose = fields.text("purpose").unwrap_or_default();
        dimension.required = fields.flag("required").unwrap_or(true);
        let levels = fields.required("levels");
        fields.finish();
        levels?
    } else {
        node
    };
    for level in levels.as_list().unwrap_or_default() {
        dimension.levels.extend(text_of(level, "a level", findings));
    }
    let mut folded: Vec<String> = dimension.levels.iter().map(|level| level.trim().to_lowercase()).collect();
    folded.sort();
    folded.dedup();
    if folded.len() < 2 || folded.len() != dimension.levels.len() {
        let message = format!("the dimension `{}` needs at least two levels, each another", key.name);
        findings.error(&levels.span, message, "list them from one end to the other, such as `[low, high]`");
    }
    Some(dimension)
}

fn consequence(node: &Node, dimensions: &[Dimension], findings: &Findings) -> Option<Consequence> {
    let mut fields = Fields::of(node, "a rule of `assess`", findings)?;
    let when = fields.required("when").and_then(|node| level_test(node, dimensions, findings));
    let then = fields.required("then").and_then(|_| fields.map("then")).and_then(follow_up);
    fields.finish();
    Some(Consequence { when: when?, then: then? })
}

/// `{any: level}` or `{dimension: level}`.
fn level_test(node: &Node, dimensions: &[Dimension], findings: &Findings) -> Option<LevelTest> {
    let [(key, value)] = node.entries() else {
        let fix = "write `{ any: low }`, or one dimension and its level, such as `{ scope: wide }`";
        findings.error(&node.span, "this must name one level", fix);
        return None;
    };
    let level = text_of(value, "a level", findings)?;
    let named = dimensions.iter().find(|dimension| dimension.id == key.name);
    if key.name != "any" && named.is_none() {
        let known = dimensions.iter().map(|dimension| dimension.id.as_str()).chain(["any"]);
        let message = format!("there is no dimension `{}`", key.name);
        findings.error(&key.span, message, or_known(&key.name, known.collect::<Vec<_>>()));
        return None;
    }
    let levels = dimensions.iter().filter(|dimension| named.is_none_or(|named| named.id == dimension.id));
    let levels: Vec<&str> = levels.flat_map(|dimension| &dimension.levels).map(String::as_str).collect();
    if !levels.iter().any(|known| known.trim().eq_ignore_ascii_case(level.trim())) {
        let message = format!("`{level}` is not a level here");
        findings.error(&value.span, message, or_known(&level, levels));
        return None;
    }
    Some(match named {
        Some(dimension) => LevelTest::Dimension { id: dimension.id.clone(), level },
        None => LevelTest::Any(level),
    })
}

fn follow_up(mut fields: Fields<'_>) -> Option<FollowUp> {
    let redo = fields.has("redo").then(|| fields.texts("redo"));
    let guidance = fields.text("followUp");
    let span = fields.span();
    let findings = fields.findings();
    fields.finish();
    match (redo, guidance) {
        (Some(steps), None) if !steps.is_empty() => Some(FollowUp::Redo(steps)),
        (None, Some(text)) => Some(FollowUp::Guidance(text)),
        _ => {
            findings.error(
                span,
                "this must say what follows",
                "write `followUp: text` or `redo: [texts]`, one of them",
            );
            None
        }
    }
}

/// What the agent is asked when the step has no prompt of its own.
fn default_text(title: &str, assessment: Option<&Assessment>) -> String {
    let mut text =
        format!("Assess where things stand: {title}. Give a level for each, and the reason for it.");
    for dimension in assessment.map(|it| it.dimensions.as_slice()).unwrap_or_default() {
        text.extend(["\n- ", &dimension.id, ": ", &dimension.levels.join(", ")]);
        if !dimension.purpose.is_empty() {
            text.extend([" (", &dimension.purpose, ")"]);
        }
    }
    text
}
