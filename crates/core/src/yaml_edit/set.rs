//! Setting a single value.

use serde_json::Value;

use super::place::{
    after_blanks, after_block, after_colon, break_before, column, is_absent, is_flow, newline, trimmed,
    written_start,
};
use super::scalar::Scalar;
use super::{Edit, Error, Step, Target, at, shown};
use crate::workflow::document::{Node, NodeValue};

/// Sets a single value: in place of the one that stands there, or as a new last entry of the map that it belongs to.
pub fn set(text: &str, path: &[Step<'_>], value: Scalar<'_>) -> Result<Edit, Error> {
    let target = Target::read(text, path)?;
    let (last, around) = path.split_last().ok_or_else(|| target.missing())?;
    let edits = match (target.find(path), last) {
        (Some(node), _) => vec![replace(&target, node, *last, value)?],
        (None, Step::Key(key)) => add(&target, around, key, &value.written())?,
        (None, Step::Index(_)) => return Err(target.missing()),
    };
    target.first_verified(edits, &wanted(&target, value).ok_or_else(|| target.missing())?)
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
    let (text, written) = (target.text, value.written());
    match &node.value {
        NodeValue::List(_) | NodeValue::Map(_) => {
            let path = shown(target.path);
            Err(Error::WrongKind { path, found: node.described(), wanted: "a single value" })
        }
        NodeValue::Null if is_absent(node) => {
            let Step::Key(name) = last else { return Err(target.too_special()) };
            let around = target.find(&target.path[..target.path.len() - 1]);
            let entry = around.and_then(|around| around.entries().iter().find(|(key, _)| key.name == name));
            let colon =
                entry.and_then(|(key, _)| after_colon(text, key)).ok_or_else(|| target.too_special())?;
            Ok(Edit { range: colon..colon, with: format!(" {written}") })
        }
        NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Text(_) => {
            let start = written_start(text, node);
            Ok(Edit { range: start..trimmed(text, &node.span).max(start), with: written })
        }
    }
}

/// A new entry, after the last of the map: the ways to write it, the better one first.
fn add(target: &Target<'_>, around: &[Step<'_>], key: &str, value: &str) -> Result<Vec<Edit>, Error> {
    let text = target.text;
    let key = Scalar::Text(key).written();
    let Some(map) = target.find(around) else {
        let is_whole = around.is_empty();
        return if is_whole {
            Ok(vec![at_end(text, &format!("{key}: {value}"))])
        } else {
            Err(target.missing())
        };
    };
    let NodeValue::Map(entries) = &map.value else {
        let path = shown(around);
        return Err(Error::WrongKind { path, found: map.described(), wanted: "a map" });
    };
    let (Some((first, _)), Some((last_key, last))) = (entries.first(), entries.last()) else {
        // `{}`: after the opening brace.
        let inside = map.span.start + 1;
        return Ok(vec![Edit { range: inside..inside, with: format!(" {key}: {value} ") }]);
    };
    if is_flow(text, map) {
        return Ok(vec![in_brackets(text, last_key.span.end.max(last.span.end), &format!("{key}: {value}"))]);
    }
    let indent = column(text, first.span.start);
    let line = format!("{}{key}: {value}{}", " ".repeat(indent), newline(text));
    let ends = [trimmed(text, &last.span), last.span.end].map(|end| end.max(last_key.span.end));
    Ok(ends.map(|end| after(text, after_block(text, end, indent), &line)).into())
}

/// One more between brackets, after what ends here.
pub(super) fn in_brackets(text: &str, end: usize, new: &str) -> Edit {
    let next = after_blanks(text, end);
    if text[next..].starts_with(',') {
        Edit { range: next + 1..next + 1, with: format!(" {new}") }
    } else {
        Edit { range: end..end, with: format!(", {new}") }
    }
}

/// Lines at a place where a line begins, or at the end of a text without a last line break.
pub(super) fn after(text: &str, at: usize, lines: &str) -> Edit {
    Edit { range: at..at, with: format!("{}{lines}", break_before(text, at)) }
}

/// A line after all others of a text that holds no values.
pub(super) fn at_end(text: &str, line: &str) -> Edit {
    after(text, text.len(), &format!("{line}{}", newline(text)))
}
