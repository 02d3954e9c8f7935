//! Lines and columns around a value.

use std::ops::Range;

use crate::workflow::document::{Key, Node, NodeValue};

/// Where the line begins that a byte is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the next line begins; the end of the text if there is none.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}

/// How far to the right a byte stands.
pub(super) fn column(text: &str, at: usize) -> usize {
    at - line_start(text, at)
}

/// What ends the lines of a text.
pub(super) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A line break, if the text before does not end with one.
pub(super) fn break_before(text: &str, at: usize) -> &'static str {
    if at == 0 || text[..at].ends_with('\n') { "" } else { newline(text) }
}

/// Whether a list or map is written with brackets.
pub(super) fn is_flow(text: &str, node: &Node) -> bool {
    match &node.value {
        // The place of a list may begin with its first item.
        NodeValue::List(items) => items.first().is_none_or(|first| dash_of(text, first).is_none()),
        NodeValue::Map(_) => text[node.span.start..].starts_with('{'),
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => false,
    }
}

/// The dash of an item, if it stands in the same line.
pub(super) fn dash_of(text: &str, item: &Node) -> Option<usize> {
    let at = written_start(text, item);
    let line = line_start(text, at);
    let before = text[line..at].trim_end_matches(' ').strip_suffix('-')?;
    (before.is_empty() || before.ends_with(' ')).then(|| line + before.len())
}

/// Whether nothing is written for a value.
pub(super) fn is_absent(node: &Node) -> bool {
    matches!(node.value, NodeValue::Null) && node.span.is_empty()
}

/// Just after the colon of a key, if it stands in the same line.
pub(super) fn after_colon(text: &str, key: &Key) -> Option<usize> {
    let rest = &text[key.span.end..];
    let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    rest[spaces..].starts_with(':').then_some(key.span.end + spaces + 1)
}

/// Where a value ends, without the line breaks and spaces that a text over several lines takes along.
pub(super) fn trimmed(text: &str, span: &Range<usize>) -> usize {
    span.start + text[span.clone()].trim_end_matches(['\n', '\r', ' ']).len()
}

/// Where what is written for a single value begins. The place of a text over several lines is that of its first letter; its
/// indicator stands in the line of its key or dash.
pub(super) fn written_start(text: &str, node: &Node) -> usize {
    let before = text[..node.span.start].trim_end();
    let line = line_start(text, before.len());
    let is_indicator = |word: &str| {
        let rest = word.strip_prefix(['|', '>']);
        rest.is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9')))
    };
    match before[line..].rsplit(' ').next() {
        Some(word) if is_indicator(word) && node.span.start > before.len() => before.len() - word.len(),
        Some(_) | None => node.span.start,
    }
}

/// Where the lines of a block end that ends with a value: also comments that stand deeper than `column` belong to it.
pub(super) fn after_block(text: &str, end: usize, column: usize) -> usize {
    let line = line_start(text, end);
    // The end of a text over several lines may be the indentation of the next line.
    let mut at = if end > 0 && text[line..end].trim().is_empty() { line } else { next_line(text, end) };
    loop {
        let line = &text[at..next_line(text, at)];
        let indent = line.len() - line.trim_start_matches(' ').len();
        if indent <= column || !line[indent..].starts_with('#') {
            return at;
        }
        at += line.len();
    }
}

/// What comes after spaces, line breaks and comments.
pub(super) fn after_blanks(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        at += blank;
        if !text[at..].starts_with('#') || (blank == 0 && at == from) {
            return at;
        }
        at = next_line(text, at);
    }
}
