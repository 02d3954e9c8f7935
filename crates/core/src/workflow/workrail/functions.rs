//! `functionDefinitions` and the steps that name them.

use serde_json::Value;

use super::reading::{Reader, should_have, soft_choice, texts};
use crate::workflow::document::Node;
use crate::workflow::fields::{Fields, Findings};
use crate::workflow::prompt::Function;
use crate::workflow::suggest::or_known;

const PARAMETER_TYPES: [(&str, ()); 5] =
    [("string", ()), ("number", ()), ("boolean", ()), ("array", ()), ("object", ())];

/// The definitions that stand here.
pub(super) fn definitions(fields: &mut Fields<'_>, here: &'static str) -> Vec<Function> {
    let findings = fields.findings();
    fields.list("functionDefinitions").iter().filter_map(|node| definition(node, here, findings)).collect()
}

fn definition(node: &Node, here: &str, findings: &Findings) -> Option<Function> {
    let mut fields = Fields::of(node, "a function definition", findings)?;
    let name = fields.required_text("name");
    let definition = fields.required_text("definition");
    let parameters = fields.list("parameters").iter().filter_map(|node| parameter(node, findings)).collect();
    let scopes = [("workflow", "workflow"), ("loop", "loop"), ("step", "step")];
    if let Some(scope) = soft_choice(&mut fields, "scope", &scopes)
        && scope != here
        && let Some(node) = fields.raw("scope")
    {
        let message =
            format!("`scope` says `{scope}`, and a definition at this place is for the whole {here}");
        findings.warning(&node.span, message, format!("write `{here}`, or move the definition"));
    }
    fields.finish();
    Some(Function { name: name?, definition: definition?, parameters })
}

/// A parameter goes to the agent as it is written; only its keys are looked at.
fn parameter(node: &Node, findings: &Findings) -> Option<Value> {
    let mut fields = Fields::of(node, "a parameter", findings)?;
    should_have(&mut fields, &["type"]);
    fields.required_text("name")?;
    soft_choice(&mut fields, "type", &PARAMETER_TYPES);
    fields.know(&["required", "description", "enum", "default"]);
    fields.finish();
    Some(node.to_json())
}

impl Reader<'_> {
    /// The definitions that a step shows: its own, and those around it that it names.
    pub(super) fn functions_of(&self, fields: &mut Fields<'_>, around: &[Function]) -> Vec<Function> {
        let mut shown = definitions(fields, "step");
        let node = fields.raw("functionReferences");
        for reference in texts(fields, "functionReferences") {
            let name = reference.trim().trim_end_matches("()");
            if shown.iter().any(|function| function.name == name) {
                continue;
            }
            let known = around.iter().chain(&self.functions);
            if let Some(function) = known.clone().find(|function| function.name == name) {
                self.gathered.borrow_mut().functions_used.insert(name.to_owned());
                shown.push(function.clone());
                continue;
            }
            let names: Vec<&str> = known.map(|function| function.name.as_str()).collect();
            let span = node.map_or_else(|| fields.span().clone(), |node| node.span.clone());
            self.warn(&span, format!("there is no function `{name}`"), or_known(name, names));
        }
        shown
    }
}

/// Calls go to the agent as they are written.
pub(super) fn calls(fields: &mut Fields<'_>) -> Vec<Value> {
    fields.list("functionCalls").iter().map(Node::to_json).collect()
}

/// Definitions of the root that no step names would be lost on every reader.
pub(super) fn warn_unused(reader: &Reader<'_>, root: &Node) {
    let used = &reader.gathered.borrow().functions_used;
    for node in root.get("functionDefinitions").and_then(Node::as_list).unwrap_or_default() {
        let name = node.get("name").and_then(Node::as_text);
        if let Some(name) = name.filter(|name| !used.contains(*name)) {
            let message = format!("no step names the function `{name}`, so no agent is shown it");
            reader.warn(&node.span, message, "name it in `functionReferences` of a step");
        }
    }
}
