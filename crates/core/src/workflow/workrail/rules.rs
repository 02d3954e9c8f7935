//! `validationCriteria`: one rule, a list of them, or rules combined by and, or, not.

use super::condition;
use super::reading::{Reader, has, text};
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::fields::Fields;
use crate::workflow::prompt::{Demand, OneRule, Rule};

#[derive(Clone, Copy)]
enum Kind {
    Contains,
    Regex,
    Length,
    Schema,
}

const KINDS: [(&str, Kind); 4] = [
    ("contains", Kind::Contains),
    ("regex", Kind::Regex),
    ("length", Kind::Length),
    ("schema", Kind::Schema),
];

impl Reader<'_> {
    /// Every rule that must hold. What is a plain text cannot be checked and goes to `guidance`.
    pub(super) fn rules_of(&self, fields: &mut Fields<'_>, guidance: &mut Vec<String>) -> Vec<Rule> {
        let Some(node) = fields.node("validationCriteria") else { return Vec::new() };
        let list = node.as_list().unwrap_or(std::slice::from_ref(node));
        let mut rules = Vec::new();
        for entry in list {
            match entry.as_text() {
                Some(words) => {
                    let message = "a plain text cannot be checked; the agent is shown it as guidance";
                    self.warn(&entry.span, message, "write a rule with `type` and `message`");
                    guidance.push(words.to_owned());
                }
                None => rules.extend(self.rule(entry)),
            }
        }
        rules
    }

    fn rule(&self, node: &Node) -> Option<Rule> {
        if let NodeValue::List(entries) = &node.value {
            return Some(Rule::All(self.rules(entries)));
        }
        let mut fields = Fields::of(node, "a validation rule", self.findings)?;
        let mut combined = Vec::new();
        if fields.has("and") {
            combined.push(Rule::All(self.rules(fields.list("and"))));
        }
        if fields.has("or") {
            combined.push(Rule::Any(self.rules(fields.list("or"))));
        }
        if let Some(inner) = fields.node("not") {
            combined.push(Rule::Not(Box::new(self.rule(inner)?)));
        }
        if has(node, "type") || combined.is_empty() {
            combined.push(Rule::One(Box::new(self.one(&mut fields)?)));
        }
        fields.finish();
        Some(if combined.len() == 1 { combined.remove(0) } else { Rule::All(combined) })
    }

    fn rules(&self, nodes: &[Node]) -> Vec<Rule> {
        nodes.iter().filter_map(|node| self.rule(node)).collect()
    }

    fn one(&self, fields: &mut Fields<'_>) -> Option<OneRule> {
        let kind = if fields.required("type").is_some() { fields.choice("type", &KINDS) } else { None };
        let message = fields.required_text("message");
        let when = fields.node("condition").and_then(|node| condition::read(node, self.findings));
        let demand = self.demand(kind?, fields)?;
        self.warn_unused(kind?, fields);
        Some(OneRule { demand, message: message?, when })
    }

    fn demand(&self, kind: Kind, fields: &mut Fields<'_>) -> Option<Demand> {
        Some(match kind {
            Kind::Contains => Demand::Contains(fields.required_text("value")?),
            Kind::Regex => {
                let key = if fields.has("value") && !fields.has("pattern") { "value" } else { "pattern" };
                let words = fields.required_text(key)?;
                let flags = text(fields, "flags").unwrap_or_default();
                let node = fields.raw(key)?;
                let pattern = condition::pattern(&words, &flags, node, self.findings)?;
                Demand::Matches { pattern, flags }
            }
            Kind::Length => {
                let (min, max) = (fields.count("min"), fields.count("max"));
                if min.is_none() && max.is_none() {
                    fields.missing("min");
                }
                Demand::Length { min, max }
            }
            Kind::Schema => {
                let node = fields.required("schema")?;
                let schema = node.to_json();
                if let Err(error) = crate::workflow::contract::check_schema(&schema) {
                    self.findings.error(&node.span, error.to_string(), "put the schema right");
                }
                Demand::Schema(schema)
            }
        })
    }

    /// Keys that belong to another type of rule.
    fn warn_unused(&self, kind: Kind, fields: &mut Fields<'_>) {
        let used: &[&str] = match kind {
            Kind::Contains => &["value"],
            Kind::Regex => &["pattern", "value", "flags"],
            Kind::Length => &["min", "max"],
            Kind::Schema => &["schema"],
        };
        for key in ["value", "pattern", "flags", "min", "max", "schema"] {
            if let (false, Some(found)) = (used.contains(&key), fields.key(key)) {
                let message = format!("`{key}` means nothing for this type of rule");
                self.warn(&found.span, message, "take it out, or correct `type`");
            }
        }
    }
}
