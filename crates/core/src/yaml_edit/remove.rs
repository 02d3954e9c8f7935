//! Taking an entry of a map or an item of a list out.

use std::ops::Range;

use serde_json::Value;

use super::place::{after_blanks, after_colon, column, dash_of, is_flow, line_start, next_line, trimmed};
use super::{Edit, Error, Step, Target, at};
use crate::workflow::document::{Node, NodeValue};

/// Takes out what a path leads to. Comments above it stay, one behind it in its own line goes with it.
pub fn remove(text: &str, path: &[Step<'_>]) -> Result<Edit, Error> {
    let target = Target::read(text, path)?;
    let (last, around) = path.split_last().ok_or_else(|| target.missing())?;
    let parent = target.find(around).ok_or_else(|| target.missing())?;
    let (parts, number) = parts(parent, *last).ok_or_else(|| target.missing())?;
    let edits = if parts.len() == 1 {
        emptied(&target, around, parent)
    } else if is_flow(text, parent) {
        vec![Edit { range: between_brackets(text, &parts, number), with: String::new() }]
    } else {
        vec![in_block(&target, &parts, number, parent)?]
    };
    let mut wanted = target.json();
    match (at(&mut wanted, around), last) {
        (Some(Value::Object(map)), Step::Key(key)) => drop(map.shift_remove(*key)),
        (Some(Value::Array(list)), Step::Index(index)) => drop(list.remove(*index)),
        _ => return Err(target.missing()),
    }
    target.first_verified(edits, &wanted)
}

/// Brackets in place of the only part: behind the key if nothing stands in between, else where the part stood.
fn emptied(target: &Target<'_>, around: &[Step<'_>], parent: &Node) -> Vec<Edit> {
    let text = target.text;
    let is_map = matches!(parent.value, NodeValue::Map(_));
    let empty = if is_map { "{}" } else { "[]" };
    let first = parent.as_list().and_then(<[Node]>::first).filter(|_| !is_flow(text, parent));
    let start = first.and_then(|first| dash_of(text, first)).unwrap_or(parent.span.start);
    let end = trimmed(text, &parent.span).max(start);
    let mut edits = Vec::new();
    if let Some((Step::Key(name), above)) = around.split_last()
        && let Some((key, _)) =
            target.find(above).and_then(|map| map.entries().iter().find(|(key, _)| key.name == *name))
        && let Some(colon) = after_colon(text, key)
        && text.get(colon..start).is_some_and(|between| between.trim().is_empty())
    {
        edits.push(Edit { range: colon..end, with: format!(" {empty}") });
    }
    edits.push(Edit { range: start..end, with: empty.to_owned() });
    edits
}

/// Where each part of a list or map stands, and which of them is meant.
fn parts(parent: &Node, last: Step<'_>) -> Option<(Vec<Range<usize>>, usize)> {
    match (&parent.value, last) {
        (NodeValue::Map(entries), Step::Key(name)) => {
            let number = entries.iter().position(|(key, _)| key.name == name)?;
            let part = |key: &Range<usize>, node: &Range<usize>| key.start..node.end.max(key.end);
            Some((entries.iter().map(|(key, node)| part(&key.span, &node.span)).collect(), number))
        }
        (NodeValue::List(items), Step::Index(number)) if number < items.len() => {
            Some((items.iter().map(|item| item.span.clone()).collect(), number))
        }
        _ => None,
    }
}

/// With the comma after it, or if it is the last the one before it.
fn between_brackets(text: &str, parts: &[Range<usize>], number: usize) -> Range<usize> {
    let part = &parts[number];
    match (parts.get(number + 1), number.checked_sub(1).and_then(|before| parts.get(before))) {
        (Some(next), _) => part.start..next.start,
        (None, Some(before)) => before.end..part.end,
        (None, None) => part.start..after_blanks(text, part.end),
    }
}

/// Whole lines; where it shares its first line with a dash, up to the next entry.
fn in_block(
    target: &Target<'_>,
    parts: &[Range<usize>],
    number: usize,
    parent: &Node,
) -> Result<Edit, Error> {
    let text = target.text;
    let mut start = parts[number].start;
    if let NodeValue::List(items) = &parent.value {
        start = dash_of(text, &items[number]).ok_or_else(|| target.too_special())?;
    }
    let end = trimmed(text, &parts[number]);
    let line = line_start(text, start);
    let range = if text[line..start].trim().is_empty() {
        line..next_line(text, end)
    } else {
        let next = parts.get(number + 1).ok_or_else(|| target.too_special())?.start;
        // What stands between them would come to stand behind the dash.
        let between = &text[next_line(text, end)..line_start(text, next).max(next_line(text, end))];
        if !between.trim().is_empty() || column(text, next) != column(text, start) {
            return Err(target.too_special());
        }
        start..next
    };
    Ok(Edit { range, with: String::new() })
}
