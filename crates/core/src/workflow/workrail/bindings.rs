//! `{{wr.bindings.slot}}`: what the workspace bound to a slot, else the slot's default, put in before reading.

use std::collections::BTreeMap;

use crate::workflow::compile::Context;
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::suggest::or_known;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";
const PREFIX: &str = "wr.bindings.";

/// The root with every slot filled.
pub(super) fn resolve(root: &Node, context: &Context<'_>) -> Node {
    let mut root = root.clone();
    let points = root.get("extensionPoints").and_then(Node::as_list).unwrap_or_default();
    let defaults = points.iter().filter_map(|point| {
        let (slot, default) = (point.get("slotId")?.as_text()?, point.get("default")?.as_text()?);
        Some((slot.to_owned(), default.to_owned()))
    });
    let slots = Slots { defaults: defaults.collect(), context };
    slots.fill(&mut root);
    root
}

struct Slots<'s> {
    defaults: BTreeMap<String, String>,
    context: &'s Context<'s>,
}

impl Slots<'_> {
    fn fill(&self, node: &mut Node) {
        match &mut node.value {
            NodeValue::Text(text) if text.contains(PREFIX) => *text = self.filled(text, &node.span),
            NodeValue::List(items) => items.iter_mut().for_each(|item| self.fill(item)),
            NodeValue::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.fill(value)),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {}
        }
    }

    fn filled(&self, text: &str, span: &std::ops::Range<usize>) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some(open) = rest.find(OPEN) {
            let Some(length) = rest[open..].find(CLOSE) else { break };
            let inner = rest[open + OPEN.len()..open + length].trim();
            result.push_str(&rest[..open]);
            let whole = &rest[open..open + length + CLOSE.len()];
            match inner.strip_prefix(PREFIX) {
                Some(slot) => result.push_str(&self.value(slot, span).unwrap_or_else(|| whole.to_owned())),
                None => result.push_str(whole),
            }
            rest = &rest[open + length + CLOSE.len()..];
        }
        result + rest
    }

    fn value(&self, slot: &str, span: &std::ops::Range<usize>) -> Option<String> {
        let Some(default) = self.defaults.get(slot) else {
            let known: Vec<&str> = self.defaults.keys().map(String::as_str).collect();
            let message = format!("the file has no extension point `{slot}`");
            self.context.findings.warning(span, message, or_known(slot, known));
            return None;
        };
        Some(self.context.sources.bindings.get(slot).unwrap_or(default).clone())
    }
}
