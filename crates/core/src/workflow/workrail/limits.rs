//! Lengths and patterns that the format asks for. Files in the wild go beyond them, so they are warnings.

use std::sync::LazyLock;

use crate::workflow::contract::{self, Limits};
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::fields::Findings;

static LIMITS: LazyLock<Limits> = LazyLock::new(|| {
    contract::limits_of(&super::schema::schema()).expect("the schema of the format is a schema")
});

pub(super) fn check(root: &Node, findings: &Findings) {
    for problem in LIMITS.exceeded(&root.to_json()) {
        let span = find(root, &problem.pointer).map_or_else(|| root.span.clone(), |node| node.span.clone());
        findings.warning(&span, format!("the format says otherwise: {}", problem.message), problem.fix);
    }
}

/// The node that a JSON pointer leads to.
fn find<'n>(root: &'n Node, pointer: &str) -> Option<&'n Node> {
    pointer.split('/').skip(1).try_fold(root, |node, token| {
        let token = token.replace("~1", "/").replace("~0", "~");
        match &node.value {
            NodeValue::List(items) => items.get(token.parse::<usize>().ok()?),
            _ => node.get(&token),
        }
    })
}
