//! Conditions: `{var, equals|…}`, `all`, `any`, `not`.

use serde_json::Value;

use crate::workflow::compile::is_path;
use crate::workflow::condition::{Condition, Test};
use crate::workflow::document::Node;
use crate::workflow::fields::{Fields, Findings, text_of};
use crate::workflow::pattern::Pattern;

const FORMS: &str = "write `{ var: name, equals: value }`, `all: […]`, `any: […]` or `not: {…}`";

/// The condition under a key, if the key is there and right.
pub(super) fn under(fields: &mut Fields<'_>, key: &'static str) -> Option<Condition> {
    let findings = fields.findings();
    fields.node(key).and_then(|node| read(node, findings))
}

/// The condition under a key that must be there.
pub(super) fn required(fields: &mut Fields<'_>, key: &'static str) -> Option<Condition> {
    let findings = fields.findings();
    fields.required(key).and_then(|node| read(node, findings))
}

pub(super) fn read(node: &Node, findings: &Findings) -> Option<Condition> {
    let mut fields = Fields::of(node, "a condition", findings)?;
    let condition = if fields.has("var") {
        comparison(&mut fields)
    } else if fields.has("all") {
        Some(Condition::All(parts(fields.list("all"), findings)))
    } else if fields.has("any") {
        Some(Condition::Any(parts(fields.list("any"), findings)))
    } else if fields.has("not") {
        fields
            .required("not")
            .and_then(|inner| read(inner, findings))
            .map(|inner| Condition::Not(Box::new(inner)))
    } else {
        findings.error(&node.span, "this condition says nothing that could hold", FORMS);
        None
    };
    fields.finish();
    condition
}

fn parts(nodes: &[Node], findings: &Findings) -> Vec<Condition> {
    nodes.iter().filter_map(|node| read(node, findings)).collect()
}

fn comparison(fields: &mut Fields<'_>) -> Option<Condition> {
    let findings = fields.findings();
    let path = fields.required("var").and_then(|node| path_of(node, "`var`", findings));
    let mut tests = Vec::new();
    tests.extend(any_value(fields, "equals").map(Test::Equals));
    tests.extend(any_value(fields, "not").map(Test::NotEquals));
    tests.extend(ordered(fields, "gt").map(Test::Gt));
    tests.extend(ordered(fields, "gte").map(Test::Gte));
    tests.extend(ordered(fields, "lt").map(Test::Lt));
    tests.extend(ordered(fields, "lte").map(Test::Lte));
    if fields.has("in") {
        tests.push(Test::In(fields.list("in").iter().map(Node::to_json).collect()));
    }
    tests.extend(any_value(fields, "contains").map(Test::Contains));
    tests.extend(fields.text("startsWith").map(Test::StartsWith));
    tests.extend(fields.text("endsWith").map(Test::EndsWith));
    tests.extend(pattern(fields, "matches").map(Test::Matches));
    Some(Condition::Var { path: path?, tests })
}

fn any_value(fields: &mut Fields<'_>, key: &'static str) -> Option<Value> {
    fields.raw(key).map(Node::to_json)
}

/// Something that has an order: a number, or a text such as a date.
fn ordered(fields: &mut Fields<'_>, key: &'static str) -> Option<Value> {
    let node = fields.node(key)?;
    match node.to_json() {
        value @ (Value::Number(_) | Value::String(_)) => Some(value),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            let message = format!("`{key}` compares with a number, and this is {}", node.described());
            fields.findings().error(&node.span, message, "write a number, or use `equals`");
            None
        }
    }
}

/// A pattern that the engine can run.
pub(super) fn pattern(fields: &mut Fields<'_>, key: &'static str) -> Option<String> {
    let text = fields.text(key)?;
    if let Err(problem) = Pattern::new(&text, "") {
        let span = &fields.raw(key)?.span;
        fields.findings().error(
            span,
            format!("`{key}` is not a pattern: {problem}"),
            "write it as in JavaScript, without slashes around it; in YAML use single quotes",
        );
    }
    Some(text)
}

/// The path of a var: `plan.slices`.
pub(super) fn path_of(node: &Node, what: &str, findings: &Findings) -> Option<String> {
    let path = text_of(node, what, findings)?;
    if is_path(&path) {
        return Some(path);
    }
    let bare = path.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let fix = if is_path(bare) {
        format!("write `{bare}`, without braces")
    } else {
        "write a name, or names joined by dots, such as `plan.slices`".to_owned()
    };
    findings.error(&node.span, format!("{what} must be the path of a var"), fix);
    None
}
