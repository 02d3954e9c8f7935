//! A parsed text in which every value knows where it stands, whatever the syntax was.
//!
//! Both syntaxes are read strictly and within limits: what a parser could expand, guess or silently overwrite
//! (aliases, tags, duplicate keys) is refused with its place.

mod json;
mod yaml;

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

use super::compile::Syntax;
use super::diagnostic::Diagnostic;

/// The longest text of one file.
pub const MOST_BYTES: usize = 1 << 20;
/// How deep values may lie in one another; the root is level one.
pub const MOST_DEPTH: usize = 64;
/// The most values in one file.
pub const MOST_NODES: usize = 100_000;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A value and its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub span: Range<usize>,
    pub value: NodeValue,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    /// In the order of the text; duplicate keys are a parse error.
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub span: Range<usize>,
    pub name: String,
}

/// Reads a text. It stops at the first thing that is not of the syntax, and says where.
pub fn parse(text: &str, syntax: Syntax) -> Result<Node, Diagnostic> {
    parse_any(text, syntax)?.ok_or_else(|| {
        Diagnostic::error(0..0, "the file is empty")
            .fix("write a workflow; `longhaul workflow new` makes one")
    })
}

/// The same for a text that may hold nothing, or nothing but comments.
pub fn parse_any(text: &str, syntax: Syntax) -> Result<Option<Node>, Diagnostic> {
    if text.len() > MOST_BYTES {
        let message = format!("the file has {} bytes, and {MOST_BYTES} is the most", text.len());
        return Err(Diagnostic::error(0..0, message).fix("split it, or move long texts into references"));
    }
    if let Some(nul) = text.find('\0') {
        return Err(refuse_control(nul..nul + 1, '\0'));
    }
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut limits = Limits { start, nodes: 0 };
    match syntax {
        Syntax::Yaml => yaml::parse(&text[start..], &mut limits),
        Syntax::Json => json::parse(&text[start..], &mut limits),
    }
}

/// Shared by the two syntaxes: where the text begins in the file, and what was counted so far.
struct Limits {
    start: usize,
    nodes: usize,
}

impl Limits {
    fn place(&self, span: Range<usize>) -> Range<usize> {
        span.start + self.start..span.end.max(span.start) + self.start
    }

    /// One more value, with `around` lists and maps around it.
    fn admit(&mut self, span: &Range<usize>, around: usize) -> Result<(), Diagnostic> {
        self.nodes += 1;
        if around >= MOST_DEPTH {
            return Err(too_deep(span.clone()));
        }
        if self.nodes > MOST_NODES {
            let message = format!("the file has more than {MOST_NODES} values");
            return Err(Diagnostic::error(span.clone(), message).fix("split the file"));
        }
        Ok(())
    }
}

fn too_deep(span: Range<usize>) -> Diagnostic {
    Diagnostic::error(span, format!("this lies more than {MOST_DEPTH} levels deep"))
        .fix("flatten the lists and maps around it")
}

/// A text or key that can be shown to a person and to an agent as it is.
fn check_text(text: &str, span: &Range<usize>) -> Result<(), Diagnostic> {
    match text.chars().find(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        Some(control) => Err(refuse_control(span.clone(), control)),
        None => Ok(()),
    }
}

fn refuse_control(span: Range<usize>, control: char) -> Diagnostic {
    let message = format!("the control character U+{:04X} is not allowed in a file", control as u32);
    Diagnostic::error(span, message).fix("take it out")
}

/// A map, unless two of its keys are the same.
fn map_of(entries: Vec<(Key, Node)>) -> Result<NodeValue, Diagnostic> {
    let mut seen = BTreeSet::new();
    for (key, _) in &entries {
        if !seen.insert(&key.name) {
            let message = format!("the key `{}` stands twice in this map", key.name);
            return Err(Diagnostic::error(key.span.clone(), message).fix("keep one of them"));
        }
    }
    Ok(NodeValue::Map(entries))
}

impl Node {
    /// The value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(name, _)| name.name == key).map(|(_, node)| node)
    }

    /// The entries of a map; none if it is not one.
    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.value {
            NodeValue::Map(entries) => entries,
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::Text(_)
            | NodeValue::List(_) => &[],
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let NodeValue::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn as_list(&self) -> Option<&[Node]> {
        if let NodeValue::List(items) = &self.value { Some(items) } else { None }
    }

    pub fn is_null(&self) -> bool {
        self.value == NodeValue::Null
    }

    /// The same value without places.
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(flag) => Value::Bool(*flag),
            NodeValue::Number(number) => Value::Number(number.clone()),
            NodeValue::Text(text) => Value::String(text.clone()),
            NodeValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Map(entries) => Value::Object(
                entries.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// What it is, for messages: `a list`.
    pub fn described(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "a yes or no",
            NodeValue::Number(_) => "a number",
            NodeValue::Text(_) => "a text",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a map",
        }
    }
}

#[cfg(test)]
mod tests;
