//! Conditions, as WorkRail writes them.

use crate::workflow::condition::{Condition, Test};
use crate::workflow::document::{Key, Node, NodeValue};
use crate::workflow::fields::Findings;
use crate::workflow::pattern::Pattern;
use crate::workflow::suggest::closest;

/// Every comparison that a condition may have.
pub(super) const COMPARISONS: &[&str] = &[
    "equals",
    "not_equals",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
];
const COMBINATIONS: &[&str] = &["and", "or", "not"];

/// The condition; one that cannot be read is a finding.
pub(super) fn read(node: &Node, findings: &Findings) -> Option<Condition> {
    let entries = match &node.value {
        NodeValue::Map(entries) => entries,
        NodeValue::Bool(true) => return Some(Condition::All(Vec::new())),
        NodeValue::Bool(false) => return Some(Condition::Any(Vec::new())),
        NodeValue::Null | NodeValue::Number(_) | NodeValue::Text(_) | NodeValue::List(_) => {
            let message = format!("a condition must be a map, and this is {}", node.described());
            findings.error(&node.span, message, "write `{\"var\": \"name\", \"equals\": \"value\"}`");
            return None;
        }
    };
    let mut parts = Vec::new();
    parts.extend(comparison(node, findings)?);
    for (key, value) in entries {
        match key.name.as_str() {
            "and" => parts.push(Condition::All(all(value, findings)?)),
            "or" => parts.push(Condition::Any(all(value, findings)?)),
            "not" => parts.push(Condition::Not(Box::new(read(value, findings)?))),
            "var" => {}
            other if COMPARISONS.contains(&other) => {}
            _ => unknown(key, findings),
        }
    }
    Some(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
}

/// The comparison of one var, if there is one: `None` outside is an error.
#[expect(clippy::option_option, reason = "outside: could it be read; inside: is there one")]
fn comparison(node: &Node, findings: &Findings) -> Option<Option<Condition>> {
    let mut tests = Vec::new();
    for (key, value) in node.entries() {
        if COMPARISONS.contains(&key.name.as_str()) {
            tests.push(test(&key.name, value, findings)?);
        }
    }
    match node.get("var") {
        None if tests.is_empty() => Some(None),
        None => {
            findings.error(&node.span, "a comparison needs `var`", "add `\"var\": \"the name to look at\"`");
            None
        }
        Some(var) => match var.as_text().map(str::trim) {
            Some(path) if !path.is_empty() => Some(Some(Condition::Var { path: path.to_owned(), tests })),
            _ => {
                findings.error(
                    &var.span,
                    "`var` must be the name of a var",
                    "write a name, or a dotted path",
                );
                None
            }
        },
    }
}

fn test(name: &str, value: &Node, findings: &Findings) -> Option<Test> {
    let plain = value.to_json();
    let words = || {
        if value.as_text().is_none() {
            let message = format!("`{name}` must be a text, and this is {}", value.described());
            findings.error(&value.span, message, "put it in quotes");
        }
        value.as_text().map(str::to_owned)
    };
    Some(match name {
        "equals" => Test::Equals(plain),
        "not_equals" => Test::NotEquals(plain),
        "gt" => Test::Gt(plain),
        "gte" => Test::Gte(plain),
        "lt" => Test::Lt(plain),
        "lte" => Test::Lte(plain),
        "contains" => Test::Contains(plain),
        "startsWith" => Test::StartsWith(words()?),
        "endsWith" => Test::EndsWith(words()?),
        "matches" => Test::Matches(pattern(&words()?, "", value, findings)?),
        _ => Test::In(list(value, findings)?.iter().map(Node::to_json).collect()),
    })
}

/// The pattern, if it is one.
pub(super) fn pattern(pattern: &str, flags: &str, node: &Node, findings: &Findings) -> Option<String> {
    match Pattern::new(pattern, flags) {
        Ok(_) => Some(pattern.to_owned()),
        Err(error) => {
            findings.error(
                &node.span,
                format!("`{pattern}` is not a pattern: {error}"),
                "put the pattern right",
            );
            None
        }
    }
}

fn all(node: &Node, findings: &Findings) -> Option<Vec<Condition>> {
    list(node, findings)?.iter().map(|inner| read(inner, findings)).collect()
}

fn list<'n>(node: &'n Node, findings: &Findings) -> Option<&'n [Node]> {
    let list = node.as_list();
    if list.is_none() {
        let message = format!("this must be a list, and it is {}", node.described());
        findings.error(&node.span, message, "write `[…]` around it");
    }
    list
}

fn unknown(key: &Key, findings: &Findings) {
    let known = COMPARISONS.iter().chain(COMBINATIONS).copied().chain(["var"]);
    let fix = match closest(&key.name, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None => "take it out".to_owned(),
    };
    findings.warning(&key.span, format!("a condition has no key `{}`; it changes nothing", key.name), fix);
}
