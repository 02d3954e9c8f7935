//! A typed reader over maps of a [`Node`]: asks for keys, notes what is wrong with them, and goes on.
//!
//! Every key that was asked for is known; [`Fields::finish`] reports all others. So the reader and the list of
//! what is allowed cannot drift apart.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use super::diagnostic::{Diagnostic, Severity};
use super::document::{Key, Node, NodeValue};
use super::suggest::{closest, or_known};
use crate::units::{UnitError, parse_count, parse_duration_ms, parse_money_micros};

/// More errors or warnings than these help nobody, and each costs time to make and to show.
const MOST_FINDINGS: usize = 500;

/// Everything that was found in one file so far. Shared by all readers of that file.
#[derive(Debug)]
pub struct Findings {
    found: RefCell<Vec<Diagnostic>>,
    errors: Cell<usize>,
    warnings: Cell<usize>,
    strays: Strays,
    /// Every key that any reader asked for: the schema must have them all.
    #[cfg(test)]
    pub asked: RefCell<std::collections::BTreeSet<&'static str>>,
}

/// What to make of keys that nobody asks for, and of keys without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strays {
    /// In a version of a format that we know whole.
    Refuse,
    /// In a newer version, and in files that others wrote for another program.
    Warn,
}

impl Findings {
    pub fn new(strays: Strays) -> Self {
        Self {
            found: RefCell::default(),
            errors: Cell::default(),
            warnings: Cell::default(),
            strays,
            #[cfg(test)]
            asked: RefCell::default(),
        }
    }

    pub fn push(&self, diagnostic: Diagnostic) {
        let count = self.count(diagnostic.severity);
        count.set(count.get() + 1);
        if count.get() <= MOST_FINDINGS {
            self.found.borrow_mut().push(diagnostic);
        }
    }

    /// Whether one more of these would not be shown, so that nobody needs to think about how to put it right.
    pub fn is_full(&self, severity: Severity) -> bool {
        self.count(severity).get() >= MOST_FINDINGS
    }

    fn count(&self, severity: Severity) -> &Cell<usize> {
        match severity {
            Severity::Error => &self.errors,
            Severity::Warning => &self.warnings,
        }
    }

    pub fn error(&self, span: &Range<usize>, message: impl Into<String>, fix: impl Into<String>) {
        self.push(Diagnostic::error(span.clone(), message).fix(fix));
    }

    pub fn warning(&self, span: &Range<usize>, message: impl Into<String>, fix: impl Into<String>) {
        self.push(Diagnostic::warning(span.clone(), message).fix(fix));
    }

    /// An error or a warning, by how this file treats strays.
    pub fn stray(&self, span: &Range<usize>, message: impl Into<String>, fix: impl Into<String>) {
        match self.stray_severity() {
            Severity::Error => self.error(span, message, fix),
            Severity::Warning => self.warning(span, message, fix),
        }
    }

    fn stray_severity(&self) -> Severity {
        match self.strays {
            Strays::Refuse => Severity::Error,
            Strays::Warn => Severity::Warning,
        }
    }

    pub fn has_errors(&self) -> bool {
        self.errors.get() > 0
    }

    /// In the order of the file.
    pub fn into_sorted(self) -> Vec<Diagnostic> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
        found.dedup();
        let left_out = [&self.errors, &self.warnings].map(|count| count.get().saturating_sub(MOST_FINDINGS));
        if left_out != [0, 0] {
            let [errors, warnings] = left_out;
            let place = found.last().map_or(0..0, |last| last.span.clone());
            let message = format!("{errors} more errors and {warnings} more warnings are not shown");
            found.push(Diagnostic::warning(place, message).fix("put these right, then look again"));
        }
        found
    }
}

/// One map that is being read.
#[derive(Debug)]
pub struct Fields<'n> {
    node: &'n Node,
    /// For messages: `a step`, `the root`.
    what: String,
    findings: &'n Findings,
    asked: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// Nothing, and a finding, if the node is not a map.
    pub fn of(node: &'n Node, what: &str, findings: &'n Findings) -> Option<Self> {
        if let NodeValue::Map(_) = node.value {
            return Some(Self { node, what: what.to_owned(), findings, asked: Vec::new() });
        }
        findings.error(
            &node.span,
            format!("{what} must be a map, and this is {}", node.described()),
            "write `key: value` lines here",
        );
        None
    }

    pub fn span(&self) -> &'n Range<usize> {
        &self.node.span
    }

    pub fn findings(&self) -> &'n Findings {
        self.findings
    }

    /// Whether the key is there, with any value. It then counts as known.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.entry(key).is_some()
    }

    /// The key as written, for findings about the key itself.
    pub fn key(&mut self, key: &'static str) -> Option<&'n Key> {
        self.entry(key).map(|(key, _)| key)
    }

    /// The value as it stands, `null` included.
    pub fn raw(&mut self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|(_, node)| node)
    }

    /// The value, unless it is missing or nothing.
    pub fn node(&mut self, key: &'static str) -> Option<&'n Node> {
        let (name, node) = self.entry(key)?;
        if node.is_null() {
            let message = format!("`{key}` has no value");
            self.findings.stray(&name.span, message, "give it one, or take the line out");
            return None;
        }
        Some(node)
    }

    /// The value; it is a finding when it is missing.
    pub fn required(&mut self, key: &'static str) -> Option<&'n Node> {
        if self.entry(key).is_none_or(|(_, node)| node.is_null()) {
            self.missing(key);
            return None;
        }
        self.node(key)
    }

    pub fn text(&mut self, key: &'static str) -> Option<String> {
        self.node(key).and_then(|node| text_of(node, &format!("`{key}`"), self.findings))
    }

    pub fn required_text(&mut self, key: &'static str) -> Option<String> {
        self.required(key).and_then(|node| text_of(node, &format!("`{key}`"), self.findings))
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        if let NodeValue::Bool(flag) = node.value {
            return Some(flag);
        }
        self.wrong(node, key, "`true` or `false`");
        None
    }

    /// A whole number that is not negative.
    pub fn count(&mut self, key: &'static str) -> Option<u64> {
        let node = self.node(key)?;
        count_of(node, &format!("`{key}`"), self.findings)
    }

    /// A list of anything; a finding and nothing if it is no list.
    pub fn list(&mut self, key: &'static str) -> &'n [Node] {
        let Some(node) = self.node(key) else { return &[] };
        node.as_list().unwrap_or_else(|| {
            self.wrong(node, key, "a list");
            &[]
        })
    }

    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        let what = format!("an entry of `{key}`");
        self.list(key).iter().filter_map(|node| text_of(node, &what, self.findings)).collect()
    }

    /// A list of texts, or one text instead of a list of one.
    pub fn one_or_more_texts(&mut self, key: &'static str) -> Vec<String> {
        match self.entry(key).map(|(_, node)| &node.value) {
            Some(NodeValue::Text(text)) => vec![text.clone()],
            _ => self.texts(key),
        }
    }

    /// A map, to be read in turn.
    pub fn map(&mut self, key: &'static str) -> Option<Fields<'n>> {
        let node = self.node(key)?;
        if let NodeValue::Map(_) = node.value {
            return Some(Fields {
                node,
                what: format!("`{key}`"),
                findings: self.findings,
                asked: Vec::new(),
            });
        }
        self.wrong(node, key, "a map");
        None
    }

    /// The entries of a map whose keys are names that the author chose.
    pub fn entries(&mut self, key: &'static str) -> &'n [(Key, Node)] {
        let Some(node) = self.node(key) else { return &[] };
        if !matches!(node.value, NodeValue::Map(_)) {
            self.wrong(node, key, "a map");
        }
        node.entries()
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(key)?;
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == text) {
            return Some(*choice);
        }
        let node = self.raw(key)?;
        let words = || choices.iter().map(|(word, _)| *word);
        let fix = or_known(&text, words().collect::<Vec<_>>());
        self.findings.error(&node.span, format!("`{key}` cannot be `{text}`"), fix);
        None
    }

    /// `90s`, `10m`, `3d`.
    pub fn duration_ms(&mut self, key: &'static str) -> Option<u64> {
        self.unit(key, parse_duration_ms)
    }

    /// `900`, `64k`, `2M`.
    pub fn amount(&mut self, key: &'static str) -> Option<u64> {
        self.unit(key, parse_count)
    }

    /// `1.50usd`.
    pub fn money_micros(&mut self, key: &'static str) -> Option<u64> {
        self.unit(key, parse_money_micros)
    }

    /// Marks keys as known that are read elsewhere.
    pub fn know(&mut self, keys: &[&'static str]) {
        self.asked.extend(keys);
        #[cfg(test)]
        self.findings.asked.borrow_mut().extend(keys);
    }

    /// Reports that a key must be there.
    pub fn missing(&self, key: &str) {
        let at = self.node.span.start..self.node.span.start;
        self.findings.error(&at, format!("{} needs `{key}`", self.what), format!("add a line `{key}: …`"));
    }

    /// The keys that nobody asked for so far.
    pub fn unasked(&self) -> impl Iterator<Item = &'n Key> {
        let is_unasked = |key: &&Key| !self.asked.contains(&key.name.as_str());
        self.node.entries().iter().map(|(key, _)| key).filter(is_unasked)
    }

    /// Reports every key that nobody asked for. To be called when all was read.
    pub fn finish(self) {
        let known = self.asked.iter().copied().filter(|known| self.node.get(known).is_none());
        let known: Vec<&str> = known.collect();
        for (key, _) in self.node.entries() {
            if self.asked.contains(&key.name.as_str()) {
                continue;
            }
            let close = if self.findings.is_full(self.findings.stray_severity()) {
                None
            } else {
                closest(&key.name, known.iter().copied())
            };
            let fix = match close {
                Some(word) => format!("did you mean `{word}`?"),
                None => "take it out, or look the key up in the guide".to_owned(),
            };
            self.findings.stray(&key.span, format!("{} has no key `{}`", self.what, key.name), fix);
        }
    }

    fn entry(&mut self, key: &'static str) -> Option<&'n (Key, Node)> {
        if !self.asked.contains(&key) {
            self.asked.push(key);
        }
        #[cfg(test)]
        self.findings.asked.borrow_mut().insert(key);
        self.node.entries().iter().find(|(name, _)| name.name == key)
    }

    fn wrong(&self, node: &Node, key: &str, wanted: &str) {
        let message = format!("`{key}` must be {wanted}, and this is {}", node.described());
        self.findings.error(&node.span, message, format!("write {wanted}"));
    }

    fn unit(&mut self, key: &'static str, parse: fn(&str) -> Result<u64, UnitError>) -> Option<u64> {
        let node = self.node(key)?;
        let text = match &node.value {
            NodeValue::Text(text) => text.clone(),
            NodeValue::Number(number) => number.to_string(),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                self.wrong(node, key, "a number with its unit");
                return None;
            }
        };
        match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                let (message, fix) = error.parts();
                self.findings.error(&node.span, format!("`{key}`: {message}"), fix);
                None
            }
        }
    }
}

/// A text that is not blank. `what` begins the message: `` `title` ``, `an entry of …`.
pub fn text_of(node: &Node, what: &str, findings: &Findings) -> Option<String> {
    match &node.value {
        NodeValue::Text(text) if text.trim().is_empty() => {
            findings.error(&node.span, format!("{what} is blank"), "write something, or take it out");
            None
        }
        NodeValue::Text(text) => Some(text.clone()),
        NodeValue::Bool(_) | NodeValue::Number(_) => {
            let message = format!("{what} must be a text, and this is {}", node.described());
            findings.error(&node.span, message, format!("put it in quotes: \"{}\"", node.to_json()));
            None
        }
        NodeValue::Null | NodeValue::List(_) | NodeValue::Map(_) => {
            let message = format!("{what} must be a text, and this is {}", node.described());
            findings.error(&node.span, message, "write a text; one with `: ` or `#` in it needs quotes");
            None
        }
    }
}

/// A whole number that is not negative.
pub fn count_of(node: &Node, what: &str, findings: &Findings) -> Option<u64> {
    if let NodeValue::Number(number) = &node.value
        && let Some(count) = number.as_u64()
    {
        return Some(count);
    }
    let message = format!("{what} must be a whole number that is not negative");
    findings.error(&node.span, message, "write digits without quotes, such as `3`");
    None
}
