//! A parsed text in which every value knows where it stands, whatever the syntax was.

use std::ops::Range;

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
