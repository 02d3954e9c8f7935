//! Setting a single value.

use serde_json::Value;

use super::place::{
    after_blanks, after_block, after_colon, break_before, column, is_absent, is_flow, newline,
};
use super::scalar::Scalar;
use super::{Edit, Error, Step, Target, at, shown};
use crate::workflow::document::{Node, NodeValue};

/// Sets a single value: in place of the one that stands there, or as a new last entry of the map that it belongs to.
pub fn set(text: &str, path: &[Step<'_>], value: Scalar<'_>) -> Result<Edit, Error> {
    let target = Target::read(text, path)?;
    let (last, around) = path.split_last().ok_or_else(|| target.missing())?;
    let edit = match (target.find(path), last) {
        (Some(node), _) => replace(&target, node, *last, value)?,
        (None, Step::Key(key)) => add(&target, around, key, &value.written())?,
        (None, Step::Index(_)) => return Err(target.missing()),
    };
    target.verified(edit, &wanted(&target, value).ok_or_else(|| target.missing())?)
}

/// All values with the new one among them.
fn wanted(target: &Target<'_>, value: Scalar<'_>) -> Option<Value> {
    let (last, around) = target.path.split_last()?;
    let mut json = target.json();
    let parent = at(&mut json, around)?;
    match last {
        Step::Key(key) => {
            if parent.is_null() {
                *parent = Value::Object(serde_json::Map::new());
            }
            parent.as_object_mut()?.insert((*key).to_owned(), value.json());
        }
        Step::Index(index) => *parent.as_array_mut()?.get_mut(*index)? = value.json(),
    }
    Some(json)
}

fn replace(target: &Target<'_>, node: &Node, last: Step<'_>, value: Scalar<'_>) -> Result<Edit, Error> {
    let written = value.written();
    match &node.value {
        NodeValue::List(_) | NodeValue::Map(_) => {
            let path = shown(target.path);
            Err(Error::WrongKind { path, found: node.described(), wanted: "a single value" })
        }
        NodeValue::Null if is_absent(node) => {
            let Step::Key(name) = last else { return Err(target.too_special()) };
            let around = target.find(&target.path[..target.path.len() - 1]);
            let entry = around.and_then(|around| around.entries().iter().find(|(key, _)| key.name == name));
            let colon = entry
                .and_then(|(key, _)| after_colon(target.text, key))
                .ok_or_else(|| target.too_special())?;
            Ok(Edit { range: colon..colon, with: format!(" {written}") })
        }
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {
            // A text over several lines takes the line break after it along, which must stay.
            let inner = target.text[node.span.clone()].trim_end_matches(['\n', '\r', ' ']).len();
            Ok(Edit { range: node.span.start..node.span.start + inner, with: written })
        }
    }
}

/// A new entry, after the last of the map.
pub(super) fn add(target: &Target<'_>, around: &[Step<'_>], key: &str, value: &str) -> Result<Edit, Error> {
    let text = target.text;
    let key = Scalar::Text(key).written();
    let Some(map) = target.find(around) else {
        return if around.is_empty() {
            Ok(at_end(text, &format!("{key}: {value}")))
        } else {
            Err(target.missing())
        };
    };
    let NodeValue::Map(entries) = &map.value else {
        let path = shown(around);
        return Err(Error::WrongKind { path, found: map.described(), wanted: "a map" });
    };
    let Some((_, last)) = entries.last() else {
        // `{}`: after the opening brace.
        let inside = map.span.start + 1;
        return Ok(Edit { range: inside..inside, with: format!(" {key}: {value} ") });
    };
    let (first, _) = &entries[0];
    if is_flow(text, map) {
        let end = flow_end(text, entries.last().map_or(0, |(key, _)| key.span.end).max(last.span.end));
        return Ok(match end {
            FlowEnd::Comma(at) => Edit { range: at..at, with: format!(" {key}: {value}") },
            FlowEnd::Bracket(at) => Edit { range: at..at, with: format!(", {key}: {value}") },
        });
    }
    let indent = column(text, first.span.start);
    let end = entries.iter().map(|(key, node)| key.span.end.max(node.span.end)).max().unwrap_or(map.span.end);
    let at = after_block(text, end, indent);
    let line = format!("{}{}{key}: {value}{}", break_before(text, at), " ".repeat(indent), newline(text));
    Ok(Edit { range: at..at, with: line })
}

/// How the entries between brackets end.
pub(super) enum FlowEnd {
    /// With a comma, after which one more may follow.
    Comma(usize),
    /// Here.
    Bracket(usize),
}

pub(super) fn flow_end(text: &str, end: usize) -> FlowEnd {
    let next = after_blanks(text, end);
    if text[next..].starts_with(',') { FlowEnd::Comma(next + 1) } else { FlowEnd::Bracket(end) }
}

/// A line after all others of a text that holds no values.
pub(super) fn at_end(text: &str, lines: &str) -> Edit {
    let at = text.len();
    Edit { range: at..at, with: format!("{}{lines}{}", break_before(text, at), newline(text)) }
}
