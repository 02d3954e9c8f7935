//! Slots and features, as in WorkRail: places that a workspace can fill, and lines that every prompt gets.

use std::collections::BTreeMap;

use super::{Context, Fields, Node, NodeValue, shortened};
use crate::workflow::features::{FEATURES, Feature, feature};
use crate::workflow::fields::text_of;
use crate::workflow::suggest::or_known;
use crate::workflow::template;

/// How a text names a slot; the second is what WorkRail writes.
const NAMESPACES: [&str; 2] = ["slots.", "wr.bindings."];
const PREFIX: &str = "wr.features.";

/// The file with its slots filled: `{{slots.name}}` becomes what the workspace binds, else the slot's default.
pub(super) fn fill(root: &Node, context: &Context<'_>) -> Node {
    let mut values = BTreeMap::new();
    let slots = root.get("slots").and_then(Node::as_list).unwrap_or_default();
    for node in slots {
        let Some(mut fields) = Fields::of(node, "a slot", context.findings) else { continue };
        let id = fields.required_text("id");
        let default = fields.required_text("default");
        fields.text("purpose");
        fields.texts("acceptedKinds");
        fields.finish();
        if let (Some(id), Some(default)) = (id, default) {
            let value = context.sources.bindings.get(&id).cloned().unwrap_or(default);
            values.insert(id, value);
        }
    }
    let mut root = root.clone();
    if !values.is_empty() {
        fill_node(&mut root, &values);
    }
    root
}

fn fill_node(node: &mut Node, values: &BTreeMap<String, String>) {
    match &mut node.value {
        NodeValue::Text(text) => *text = filled(text, values),
        NodeValue::List(items) => items.iter_mut().for_each(|item| fill_node(item, values)),
        NodeValue::Map(entries) => entries.iter_mut().for_each(|(_, value)| fill_node(value, values)),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
    }
}

fn filled(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut result = String::new();
    let mut from = 0;
    for found in template::paths(text) {
        let slot = NAMESPACES.iter().find_map(|namespace| found.path.strip_prefix(namespace));
        if let Some(value) = slot.and_then(|slot| values.get(slot)) {
            result.push_str(&text[from..found.span.start]);
            result.push_str(value);
            from = found.span.end;
        }
    }
    result + &text[from..]
}

/// The features that the file asks for, by their short or full name.
pub(super) fn features(fields: &mut Fields<'_>) -> Vec<&'static Feature> {
    let findings = fields.findings();
    let mut found = Vec::new();
    for node in fields.list("features") {
        let Some(name) = text_of(node, "a feature", findings) else { continue };
        if let Some(feature) = feature(&name).or_else(|| feature(&format!("{PREFIX}{name}"))) {
            found.push(feature);
            continue;
        }
        let known = FEATURES.iter().map(|feature| feature.name.trim_start_matches(PREFIX));
        let message = format!("there is no feature `{}`", shortened(&name));
        findings.error(&node.span, message, or_known(&name, known.collect::<Vec<_>>()));
    }
    found
}
