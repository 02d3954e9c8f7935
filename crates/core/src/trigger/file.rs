//! A file of triggers: `defaults`, and the triggers that may extend them.

use std::collections::{BTreeMap, BTreeSet};

use super::Trigger;
use super::reading::{self, Owner, SHARED_KEYS};
use crate::workflow::compile::Syntax;
use crate::workflow::diagnostic::Diagnostic;
use crate::workflow::document::{self, Key, Node, NodeValue};
use crate::workflow::fields::{Fields, Findings, Strays};
use crate::workflow::suggest::or_known;

/// More triggers than these are not one person's.
const MOST_TRIGGERS: usize = 500;

/// What a file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// In the order of the file. None of them may be used if there is an error: half of a file means something else than
    /// its author meant.
    pub triggers: Vec<Trigger>,
    pub diagnostics: Vec<Diagnostic>,
}

impl Read {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads a `triggers.yml`. One that says nothing has no triggers.
pub fn read(text: &str, owner: Owner) -> Read {
    let findings = Findings::new(Strays::Refuse);
    let mut triggers = Vec::new();
    match document::parse_any(text, Syntax::Yaml) {
        Err(problem) => findings.push(problem),
        Ok(None) => {}
        Ok(Some(root)) => triggers = whole(&root, owner, &findings),
    }
    Read { triggers, diagnostics: findings.into_sorted() }
}

fn whole(root: &Node, owner: Owner, findings: &Findings) -> Vec<Trigger> {
    let Some(mut fields) = Fields::of(root, "a file of triggers", findings) else { return Vec::new() };
    let defaults: BTreeMap<&str, &Node> = match fields.raw("defaults") {
        None => BTreeMap::new(),
        Some(node) if node.is_null() => BTreeMap::new(),
        Some(_) => fields.entries("defaults").iter().map(|(key, node)| (key.name.as_str(), node)).collect(),
    };
    for (name, node) in &defaults {
        reading::check_defaults(name, node, findings);
    }
    let entries = match fields.raw("triggers") {
        // What is left when the last one was taken out.
        Some(node) if node.is_null() => &[],
        _ => fields.list("triggers"),
    };
    fields.finish();
    if let Some(surplus) = entries.get(MOST_TRIGGERS) {
        let message = format!("the file has {} triggers, and {MOST_TRIGGERS} is the most", entries.len());
        findings.error(&surplus.span, message, "take some out");
    }
    let entries = entries.iter().take(MOST_TRIGGERS);
    let triggers: Vec<Trigger> = entries
        .filter_map(|node| {
            let merged = extended(node, &defaults, findings);
            reading::trigger(&merged, node.span.clone(), owner, findings)
        })
        .collect();
    refuse_twins(&triggers, findings);
    triggers
}

/// The entry with what it extends: a key of its own counts whole, the others are those of the defaults.
fn extended(node: &Node, defaults: &BTreeMap<&str, &Node>, findings: &Findings) -> Node {
    let Some(named) = node.get("extends") else { return node.clone() };
    let name = named.as_text().unwrap_or_default();
    let Some(base) = defaults.get(name) else {
        let message = format!("`extends` must name an entry of `defaults`, and `{name}` is none");
        findings.error(&named.span, message, or_known(name, defaults.keys().copied().collect::<Vec<_>>()));
        return node.clone();
    };
    let is_added = |key: &Key| SHARED_KEYS.contains(&key.name.as_str()) && node.get(&key.name).is_none();
    // Of two that exclude one another, the trigger's own counts.
    let is_kept = |key: &Key| {
        let others: &[&str] = match key.name.as_str() {
            "webhook" | "schedule" | "github" => &["webhook", "schedule", "github"],
            "pipeline" | "workflow" => &["pipeline", "workflow"],
            "when" | "catch_all" => &["when", "catch_all"],
            _ => &[],
        };
        !others.iter().any(|other| node.get(other).is_some())
    };
    let added = base.entries().iter().filter(|(key, _)| is_added(key) && is_kept(key)).cloned();
    let entries = node.entries().iter().cloned().chain(added).collect();
    Node { span: node.span.clone(), value: NodeValue::Map(entries) }
}

fn refuse_twins(triggers: &[Trigger], findings: &Findings) {
    let mut seen = BTreeSet::new();
    for trigger in triggers {
        // Each workspace has ids of its own.
        if !seen.insert((&trigger.workspace, trigger.id.as_str())) {
            let at = trigger.span.start..trigger.span.start;
            findings.error(
                &at,
                format!("two triggers are called `{}`", trigger.id),
                "give one of them another id",
            );
        }
    }
}
