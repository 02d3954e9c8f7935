//! Assessments: declared at the root, asked for by steps, with consequences there.

use super::reading::{Reader, should_have, text, texts};
use crate::workflow::document::Node;
use crate::workflow::fields::{Fields, Findings};
use crate::workflow::prompt::{Assessment, Consequence, Dimension, FollowUp, LevelTest};
use crate::workflow::suggest::or_known;

pub(super) fn declared(fields: &mut Fields<'_>) -> Vec<Assessment> {
    let findings = fields.findings();
    fields.list("assessments").iter().filter_map(|node| assessment(node, findings)).collect()
}

fn assessment(node: &Node, findings: &Findings) -> Option<Assessment> {
    let mut fields = Fields::of(node, "an assessment", findings)?;
    should_have(&mut fields, &["purpose"]);
    let id = fields.required_text("id");
    let purpose = text(&mut fields, "purpose").unwrap_or_default();
    fields.required("dimensions")?;
    let dimensions = fields.list("dimensions").iter().filter_map(|node| dimension(node, findings)).collect();
    fields.finish();
    Some(Assessment { id: id?, purpose, dimensions, consequences: Vec::new() })
}

fn dimension(node: &Node, findings: &Findings) -> Option<Dimension> {
    let mut fields = Fields::of(node, "a dimension", findings)?;
    should_have(&mut fields, &["purpose"]);
    let id = fields.required_text("id");
    let purpose = text(&mut fields, "purpose").unwrap_or_default();
    let levels = texts(&mut fields, "levels");
    if levels.is_empty() {
        findings.error(&node.span, "a dimension needs `levels`", "add `\"levels\": [\"low\", \"high\"]`");
    }
    let required = fields.flag("required").unwrap_or(true);
    fields.finish();
    Some(Dimension { id: id?, purpose, levels, required })
}

/// A consequence, and the assessment that it is for.
struct Rule {
    consequence: Consequence,
    only: Option<String>,
}

impl Reader<'_> {
    /// What a step asks the agent to assess.
    pub(super) fn assessments_of(&self, fields: &mut Fields<'_>) -> Vec<Assessment> {
        let node = fields.raw("assessmentRefs");
        let mut assessments = Vec::new();
        for (index, name) in texts(fields, "assessmentRefs").into_iter().enumerate() {
            if let Some(assessment) = self.assessments.get(&name) {
                assessments.push(assessment.clone());
                continue;
            }
            let list = node.and_then(Node::as_list).unwrap_or_default();
            let span = list.get(index).map_or_else(|| fields.span().clone(), |node| node.span.clone());
            let known: Vec<&str> = self.assessments.keys().map(String::as_str).collect();
            self.warn(&span, format!("the file has no assessment `{name}`"), or_known(&name, known));
        }
        for node in fields.list("assessmentConsequences") {
            if let Some(rule) = self.consequence(node) {
                self.attach(&rule, &mut assessments, node);
            }
        }
        assessments
    }

    fn consequence(&self, node: &Node) -> Option<Rule> {
        let mut fields = Fields::of(node, "a consequence", self.findings)?;
        let (when, effect) = (fields.required("when")?, fields.required("effect")?);
        fields.finish();
        let mut when = Fields::of(when, "`when`", self.findings)?;
        let level = when.required_text("anyEqualsLevel");
        let only = text(&mut when, "forAssessment");
        when.finish();
        let mut effect = Fields::of(effect, "`effect`", self.findings)?;
        should_have(&mut effect, &["kind"]);
        super::reading::soft_choice(&mut effect, "kind", &[("require_followup", ())]);
        let guidance = effect.required_text("guidance");
        effect.finish();
        let consequence = Consequence { when: LevelTest::Any(level?), then: FollowUp::Guidance(guidance?) };
        Some(Rule { consequence, only })
    }

    fn attach(&self, rule: &Rule, assessments: &mut [Assessment], node: &Node) {
        let meant = assessments.iter_mut().filter(|it| rule.only.as_ref().is_none_or(|only| *only == it.id));
        let mut matched = false;
        let mut reachable = false;
        for assessment in meant {
            matched = true;
            let LevelTest::Any(level) = &rule.consequence.when else { continue };
            let same = |known: &String| known.trim().to_lowercase() == level.trim().to_lowercase();
            if assessment.dimensions.iter().any(|dimension| dimension.levels.iter().any(same)) {
                reachable = true;
                assessment.consequences.push(rule.consequence.clone());
            }
        }
        if !matched {
            let message = "this consequence is for no assessment of the step, so it never comes to be";
            self.warn(&node.span, message, "name the assessment in `assessmentRefs`");
        } else if !reachable {
            let message = "no dimension has the level that this consequence waits for";
            self.warn(&node.span, message, "use one of the declared levels in `anyEqualsLevel`");
        }
    }
}
