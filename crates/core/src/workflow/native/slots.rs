//! Slots and features, as in WorkRail: places that a workspace can fill, and lines that every prompt gets.

use std::collections::BTreeMap;

use super::{Context, Fields, Node, NodeValue, Workflow};

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
        NodeValue::Text(text) if text.contains("{{") => {
            for (id, value) in values {
                *text = text.replace(&format!("{{{{slots.{id}}}}}"), value);
                *text = text.replace(&format!("{{{{wr.bindings.{id}}}}}"), value);
            }
        }
        NodeValue::List(items) => items.iter_mut().for_each(|item| fill_node(item, values)),
        NodeValue::Map(entries) => entries.iter_mut().for_each(|(_, value)| fill_node(value, values)),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {}
    }
}

/// The features that the file asks for.
pub(super) fn features(fields: &mut Fields<'_>) -> Vec<String> {
    let names = fields.texts("features");
    if let (Some(key), false) = (fields.key("features"), names.is_empty()) {
        fields.findings().warning(&key.span, "features are not written yet", "wait for the merge");
    }
    names
}

/// Adds the lines of the features to every prompt that is written in blocks.
pub(super) fn add_features(_workflow: &mut Workflow, _features: &[String]) {}
