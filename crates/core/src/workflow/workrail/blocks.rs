//! `promptBlocks`: texts, parts that name shared texts, and the lines that features add.

use super::reading::Reader;
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::features;
use crate::workflow::fields::{Fields, text_of};
use crate::workflow::prompt::Blocks;
use crate::workflow::suggest::or_known;

impl Reader<'_> {
    pub(super) fn blocks(&self, node: &Node) -> Option<Blocks> {
        let mut fields = Fields::of(node, "`promptBlocks`", self.findings)?;
        let mut blocks = Blocks {
            goal: fields.node("goal").and_then(|node| self.value(node, "goal")),
            constraints: self.lines(&mut fields, "constraints"),
            procedure: self.lines(&mut fields, "procedure"),
            output_required: self.outputs(&mut fields),
            verify: self.lines(&mut fields, "verify"),
        };
        fields.finish();
        self.features.iter().for_each(|feature| feature.add_to(&mut blocks));
        Some(blocks)
    }

    fn lines(&self, fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
        let list = match fields.raw(key) {
            Some(node) if node.as_text().is_some() => std::slice::from_ref(node),
            _ => fields.list(key),
        };
        list.iter().filter_map(|node| self.value(node, key)).collect()
    }

    fn outputs(&self, fields: &mut Fields<'_>) -> Vec<(String, String)> {
        let entries = fields.entries("outputRequired");
        entries
            .iter()
            .filter_map(|(key, node)| Some((key.name.clone(), self.value(node, &key.name)?)))
            .collect()
    }

    /// A text, one part, or parts in a row.
    fn value(&self, node: &Node, key: &str) -> Option<String> {
        match &node.value {
            NodeValue::Text(text) => (!text.trim().is_empty()).then(|| text.clone()),
            NodeValue::Map(_) => self.part(node),
            NodeValue::List(parts) => {
                let texts: Vec<String> = parts.iter().filter_map(|part| self.value(part, key)).collect();
                (!texts.is_empty()).then(|| joined(&texts))
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {
                text_of(node, &format!("`{key}`"), self.findings)
            }
        }
    }

    fn part(&self, node: &Node) -> Option<String> {
        let mut fields = Fields::of(node, "a part", self.findings)?;
        let kind = fields.required_text("kind")?;
        let text = match kind.as_str() {
            "text" => super::reading::text(&mut fields, "text"),
            "ref" => fields.required("refId").and_then(|node| self.shared_text(node)),
            _ => {
                let span = fields.raw("kind").map_or(&node.span, |node| &node.span);
                self.findings.error(
                    span,
                    format!("a part cannot be of kind `{kind}`"),
                    or_known(&kind, ["text", "ref"]),
                );
                None
            }
        };
        fields.finish();
        text
    }

    fn shared_text(&self, node: &Node) -> Option<String> {
        let name = text_of(node, "`refId`", self.findings)?;
        if let Some(text) = features::text(&name) {
            return Some(text.to_owned());
        }
        let known: Vec<&str> = features::TEXTS.iter().map(|(name, _)| *name).collect();
        self.warn(&node.span, format!("the shared text `{name}` is not known here"), or_known(&name, known));
        Some(format!("(The shared text `{name}` is not known here; go by the rest of this step.)"))
    }
}

/// Parts in a row, with a space where neither side has one.
fn joined(texts: &[String]) -> String {
    let mut whole = String::new();
    for text in texts {
        let touches = !whole.is_empty()
            && !whole.ends_with(char::is_whitespace)
            && !text.starts_with(char::is_whitespace);
        if touches {
            whole.push(' ');
        }
        whole.push_str(text);
    }
    whole
}
