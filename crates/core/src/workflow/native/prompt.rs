//! Steps that an agent answers.

use std::collections::BTreeMap;

use super::step::Reading;
use super::{Fields, Node, NodeValue, Reader, condition, vars};
use crate::workflow::contract::of_schema;
use crate::workflow::document::Key;
use crate::workflow::fields::{Findings, text_of};
use crate::workflow::prompt::{
    Blocks, Body, Control, Demand, Fragment, Notes, OneRule, OutputContract, Prompt, Rule,
};
use crate::workflow::step::StepKind;
use crate::workflow::{VarType, pattern::Pattern};

const NOTES: &[(&str, Notes)] =
    &[("required", Notes::Required), ("optional", Notes::Optional), ("none", Notes::None)];
/// The contract whose artifact decides whether a loop goes on.
pub(super) const LOOP_CONTROL: [&str; 2] = ["loop_control", "wr.contracts.loop_control"];

impl Reader<'_> {
    pub(super) fn prompt_step(&mut self, reading: &mut Reading<'_, '_>) -> StepKind {
        let body = reading.fields.required("prompt").and_then(|node| body(node, self.findings));
        let prompt = self.prompt(reading, body.unwrap_or_else(|| Body::Text(String::new())));
        StepKind::Prompt(Box::new(prompt))
    }

    /// Everything of an agent's step but its text.
    pub(super) fn prompt(&mut self, reading: &mut Reading<'_, '_>, mut body: Body) -> Prompt {
        let Reading { fields, id, .. } = reading;
        if let Body::Blocks(blocks) = &mut body {
            self.features.iter().for_each(|feature| feature.add_to(blocks));
        }
        let fragments = self.fragments(fields);
        let produces = self.produces(fields);
        let (outputs, control) = self.output(fields, id);
        let default_notes = if outputs.is_empty() { Notes::Required } else { Notes::Optional };
        let notes = fields.choice("notes", NOTES).unwrap_or(default_notes);
        let validate = fields.list("validate").iter().filter_map(|node| rule(node, self.findings)).collect();
        for key in ["prompt", "fragments", "produces", "output"] {
            if let Some(node) = fields.raw(key) {
                self.places.field(id, key, &node.span);
            }
        }
        Prompt {
            body,
            fragments,
            notes,
            produces,
            outputs,
            validate,
            assessments: Vec::new(),
            control,
            functions: Vec::new(),
            function_calls: Vec::new(),
            ask_for_files: false,
            audit: None,
            verification: None,
        }
    }

    fn fragments(&self, fields: &mut Fields<'_>) -> Vec<Fragment> {
        let mut fragments = Vec::new();
        for node in fields.list("fragments") {
            let Some(mut entry) = Fields::of(node, "a fragment", self.findings) else { continue };
            let when = condition::under(&mut entry, "when");
            let text = entry.required_text("text");
            entry.finish();
            fragments.extend(text.map(|text| Fragment { when, text }));
        }
        fragments
    }

    /// `{name: type}`, or a list of names.
    fn produces(&mut self, fields: &mut Fields<'_>) -> BTreeMap<String, VarType> {
        let mut produces = BTreeMap::new();
        if fields.raw("produces").is_some_and(|node| node.as_list().is_some()) {
            for node in fields.list("produces") {
                let Some(name) = text_of(node, "an entry of `produces`", self.findings) else { continue };
                if vars::check_name(&Key { span: node.span.clone(), name: name.clone() }, self.findings) {
                    produces.insert(name, VarType::Any);
                }
            }
        } else {
            for (key, node) in fields.entries("produces") {
                if let (true, Some(kind)) =
                    (vars::check_name(key, self.findings), vars::type_of(node, self.findings))
                {
                    produces.insert(key.name.clone(), kind);
                }
            }
        }
        for (name, kind) in &produces {
            self.produced(name, kind);
        }
        produces
    }

    /// The contract that the answer must fit: a name, or a schema that stands here.
    pub(super) fn output(
        &mut self,
        fields: &mut Fields<'_>,
        step: &str,
    ) -> (Vec<OutputContract>, Option<Control>) {
        let Some(node) = fields.node("output") else { return (Vec::new(), None) };
        let name = match &node.value {
            NodeValue::Map(_) => {
                let name = step.replace('-', "_");
                self.inline_contract(&name, node).map(|()| name)
            }
            _ => text_of(node, "`output`", self.findings)
                .and_then(|name| self.named_contract(&name, &node.span).map(|()| name)),
        };
        let Some(contract) = name else { return (Vec::new(), None) };
        let into = contract.rsplit('.').next().unwrap_or(&contract).to_owned();
        if !vars::check_name(&Key { span: node.span.clone(), name: into.clone() }, self.findings) {
            return (Vec::new(), None);
        }
        self.engine_var(&into);
        let (control, required) = self.control(&contract, node);
        (vec![OutputContract { contract, required, into: Some(into) }], control)
    }

    /// A loop-control artifact decides about the innermost loop that listens to one.
    fn control(&self, contract: &str, node: &Node) -> (Option<Control>, bool) {
        if !LOOP_CONTROL.contains(&contract) {
            return (None, true);
        }
        let Some(around) = self.around.iter().rev().find(|around| around.listens()) else {
            self.findings.error(
                &node.span,
                "no loop around this step listens to a loop-control artifact",
                "give the loop `control: artifact`, or the todo list `may_stop: true`",
            );
            return (None, true);
        };
        (Some(Control { loop_id: around.id.clone() }), around.must_decide())
    }
}

/// A text, or a map of blocks.
pub(super) fn body(node: &Node, findings: &Findings) -> Option<Body> {
    let NodeValue::Map(_) = node.value else { return text_of(node, "`prompt`", findings).map(Body::Text) };
    let mut fields = Fields::of(node, "`prompt`", findings)?;
    let blocks = Blocks {
        goal: fields.text("goal"),
        constraints: fields.one_or_more_texts("constraints"),
        procedure: fields.one_or_more_texts("procedure"),
        output_required: fields
            .entries("outputRequired")
            .iter()
            .filter_map(|(key, node)| {
                Some((key.name.clone(), text_of(node, "an entry of `outputRequired`", findings)?))
            })
            .collect(),
        verify: fields.one_or_more_texts("verify"),
    };
    fields.finish();
    if node.entries().is_empty() {
        findings.error(&node.span, "`prompt` says nothing", "give it a `goal`");
    }
    Some(Body::Blocks(blocks))
}

fn rule(node: &Node, findings: &Findings) -> Option<Rule> {
    let mut fields = Fields::of(node, "a rule of `validate`", findings)?;
    let rules = |nodes: &[Node]| nodes.iter().filter_map(|node| rule(node, findings)).collect();
    let rule = if fields.has("all") {
        Some(Rule::All(rules(fields.list("all"))))
    } else if fields.has("any") {
        Some(Rule::Any(rules(fields.list("any"))))
    } else if fields.has("not") {
        fields
            .node("not")
            .and_then(|inner| self::rule(inner, findings))
            .map(|inner| Rule::Not(Box::new(inner)))
    } else {
        one_rule(&mut fields).map(|one| Rule::One(Box::new(one)))
    };
    fields.finish();
    rule
}

fn one_rule(fields: &mut Fields<'_>) -> Option<OneRule> {
    let findings = fields.findings();
    let message = fields.text("message");
    let when = condition::under(fields, "when");
    let (demand, words) = if fields.has("contains") {
        let text = fields.text("contains")?;
        let words = format!("the notes must contain `{text}`");
        (Demand::Contains(text), words)
    } else if fields.has("matches") {
        matches_demand(fields)?
    } else if fields.has("length") {
        let mut length = fields.map("length")?;
        let (min, max) = (length.count("min"), length.count("max"));
        length.finish();
        (Demand::Length { min, max }, length_words(min, max))
    } else if fields.has("schema") {
        let node = fields.node("schema")?;
        let schema = node.to_json();
        if let Err(problem) = of_schema(&schema) {
            findings.error(&node.span, format!("this schema cannot be used: {problem}"), "put it right");
        }
        (Demand::Schema(schema), "the notes must be JSON that fits the schema".to_owned())
    } else {
        let fix = "write one of `contains`, `matches`, `length` or `schema`, with a `message`";
        findings.error(fields.span(), "this rule demands nothing", fix);
        return None;
    };
    Some(OneRule { demand, message: message.unwrap_or(words), when })
}

fn matches_demand(fields: &mut Fields<'_>) -> Option<(Demand, String)> {
    let flags = fields.text("flags").unwrap_or_default();
    let pattern = condition::pattern(fields, "matches")?;
    if let (Err(problem), Some(node)) = (Pattern::new("", &flags), fields.raw("flags")) {
        let message = format!("`flags` cannot be `{flags}`: {problem}");
        fields.findings().error(&node.span, message, "use letters such as `i`, `m` or `s`");
    }
    let words = format!("the notes must match `{pattern}`");
    Some((Demand::Matches { pattern, flags }, words))
}

fn length_words(min: Option<u64>, max: Option<u64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("the notes must have {min} to {max} characters"),
        (Some(min), None) => format!("the notes must have at least {min} characters"),
        (None, Some(max)) => format!("the notes must have at most {max} characters"),
        (None, None) => "the notes may have any length".to_owned(),
    }
}
