//! What all parts of this front end read alike, and the state that they share.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::workflow::compile::{Context, Places};
use crate::workflow::contract::Contract;
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::features::Feature;
use crate::workflow::fields::{Fields, Findings};
use crate::workflow::prompt::{Assessment, Function};
use crate::workflow::suggest::or_known;
use crate::workflow::{ModelTier, Workflow};

/// One file that is being read.
pub(super) struct Reader<'r> {
    pub context: &'r Context<'r>,
    pub findings: &'r Findings,
    pub features: Vec<&'static Feature>,
    pub assessments: BTreeMap<String, Assessment>,
    pub functions: Vec<Function>,
    /// Steps of the root by id, for loops that name their body.
    pub named: BTreeMap<&'r str, &'r Node>,
    pub gathered: RefCell<Gathered>,
}

/// What belongs to the whole workflow and comes up while steps are read.
#[derive(Default)]
pub(super) struct Gathered {
    pub places: Places,
    pub contracts: BTreeMap<String, Contract>,
    /// Routines that were expanded, without their steps, and where they were called.
    pub routines: Vec<(Workflow, Range<usize>)>,
    pub steps: usize,
    pub functions_used: BTreeSet<String>,
    /// Steps of the root that are the body of a loop already.
    pub taken: BTreeSet<String>,
}

impl Reader<'_> {
    pub(super) fn warn(&self, span: &Range<usize>, message: impl Into<String>, fix: impl Into<String>) {
        self.findings.warning(span, message, fix);
    }

    pub(super) fn place(&self, step: &str, field: &'static str, span: &Range<usize>) {
        self.gathered.borrow_mut().places.field(step, field, span);
    }
}

/// A text; a blank one is none, and the limits have said so.
pub(super) fn text(fields: &mut Fields<'_>, key: &'static str) -> Option<String> {
    match fields.raw(key).map(|node| &node.value) {
        Some(NodeValue::Text(text)) => (!text.trim().is_empty()).then(|| text.clone()),
        _ => fields.text(key),
    }
}

/// Texts; blank ones are left out, and the limits have said so.
pub(super) fn texts(fields: &mut Fields<'_>, key: &'static str) -> Vec<String> {
    let list = match fields.raw(key) {
        Some(node) if node.as_text().is_some() => std::slice::from_ref(node),
        _ => fields.list(key),
    };
    let findings = fields.findings();
    list.iter().filter_map(|node| entry(node, key, findings)).collect()
}

fn entry(node: &Node, key: &str, findings: &Findings) -> Option<String> {
    match &node.value {
        NodeValue::Text(text) => (!text.trim().is_empty()).then(|| text.clone()),
        _ => crate::workflow::fields::text_of(node, &format!("an entry of `{key}`"), findings),
    }
}

/// Warns that a key of the format is missing where the file still means something without it.
pub(super) fn should_have(fields: &mut Fields<'_>, keys: &[&'static str]) {
    for key in keys {
        if !fields.has(key) {
            let at = fields.span().start..fields.span().start + 1;
            let message = format!("the format asks for `{key}` here");
            fields.findings().warning(&at, message, format!("add `\"{key}\": …`"));
        }
    }
}

/// One of a few words. Another word is a warning, for where the file still means something without it.
pub(super) fn soft_choice<T: Copy>(
    fields: &mut Fields<'_>,
    key: &'static str,
    choices: &[(&'static str, T)],
) -> Option<T> {
    let word = text(fields, key)?;
    let found = choices.iter().find(|(known, _)| *known == word).map(|(_, choice)| *choice);
    if let (None, Some(node)) = (found, fields.raw(key)) {
        let fix = or_known(&word, choices.iter().map(|(known, _)| *known).collect::<Vec<_>>());
        fields.findings().warning(&node.span, format!("`{key}` cannot be `{word}`; it is left out"), fix);
    }
    found
}

pub(super) fn model_tier(fields: &mut Fields<'_>) -> Option<ModelTier> {
    let tiers =
        [("lightweight", ModelTier::Light), ("mid", ModelTier::Standard), ("heavy", ModelTier::Heavy)];
    soft_choice(fields, "modelTier", &tiers)
}

/// The keys of a map by name, for messages and checks that do not mark them as read.
pub(super) fn has(node: &Node, key: &str) -> bool {
    node.get(key).is_some()
}
