//! One more item at the end of a list.

use serde_json::Value;

use super::place::{
    after_block, after_colon, column, dash_of, is_absent, is_flow, newline, next_line, trimmed,
};
use super::set::{after, at_end, in_brackets};
use super::{Edit, Error, Step, Target, at, shown};
use crate::workflow::compile::Syntax;
use crate::workflow::document::{self, Node, NodeValue};

/// How far items stand in that nobody wrote before.
const INDENT: usize = 2;

/// Puts an item after the last one of a list. The item is YAML of its own, with comments if it has any; its lines are
/// moved to the right as far as they must be. Where the list is not there yet, its key is added.
pub fn append(text: &str, path: &[Step<'_>], item: &str) -> Result<Edit, Error> {
    let target = Target::read(text, path)?;
    let value = document::parse_any(item, Syntax::Yaml).map_err(Error::NotYaml)?;
    let value = value.as_ref().map_or(Value::Null, Node::to_json);
    let edits = match target.find(path) {
        Some(list) => to_list(&target, list, item)?,
        None => new_list(&target, item)?,
    };
    target.first_verified(edits, &wanted(&target, value).ok_or_else(|| target.missing())?)
}

fn wanted(target: &Target<'_>, item: Value) -> Option<Value> {
    let mut json = target.json();
    if at(&mut json, target.path).is_none() {
        let (Step::Key(key), around) = target.path.split_last()? else { return None };
        let around = at(&mut json, around)?;
        if around.is_null() {
            *around = Value::Object(serde_json::Map::new());
        }
        around.as_object_mut()?.insert((*key).to_owned(), Value::Null);
    }
    let list = at(&mut json, target.path)?;
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    list.as_array_mut()?.push(item);
    Some(json)
}

/// The ways to write it, the better one first.
fn to_list(target: &Target<'_>, list: &Node, item: &str) -> Result<Vec<Edit>, Error> {
    let text = target.text;
    match &list.value {
        NodeValue::Null if is_absent(list) => below_key(target, item).map(|edit| vec![edit]),
        NodeValue::List(items) => match (items.first(), items.last()) {
            (Some(_), Some(last)) if is_flow(text, list) => {
                Ok(vec![in_brackets(text, last.span.end, item.trim())])
            }
            (Some(first), Some(last)) => {
                let dash = dash_of(text, first).ok_or_else(|| target.too_special())?;
                let indent = column(text, dash);
                let gap = if are_apart(text, items) { newline(text) } else { "" };
                let new = format!("{gap}{}", lines(text, item, indent));
                let ends = [trimmed(text, &last.span), last.span.end];
                Ok(ends.map(|end| after(text, after_block(text, end, indent), &new)).into())
            }
            (None, _) | (_, None) => in_place_of_brackets(target, list, item).map(|edit| vec![edit]),
        },
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Number(_)
        | NodeValue::Text(_)
        | NodeValue::Map(_) => {
            let path = shown(target.path);
            Err(Error::WrongKind { path, found: list.described(), wanted: "a list" })
        }
    }
}

/// `key:` with nothing behind it: the item goes below the line, and below comments that stand deeper.
fn below_key(target: &Target<'_>, item: &str) -> Result<Edit, Error> {
    let (text, key) = (target.text, key_of(target).ok_or_else(|| target.too_special())?);
    let indent = column(text, key.0) + INDENT;
    let colon = key.1.ok_or_else(|| target.too_special())?;
    let at = after_block(text, next_line(text, colon), column(text, key.0));
    Ok(after(text, at, &lines(text, item, indent)))
}

/// `key: []`: with brackets around it, an item could have no comments.
fn in_place_of_brackets(target: &Target<'_>, list: &Node, item: &str) -> Result<Edit, Error> {
    let (text, key) = (target.text, key_of(target).ok_or_else(|| target.too_special())?);
    let rest = &text[list.span.end..next_line(text, list.span.end)];
    let is_last = rest.trim().is_empty() || rest.trim_start().starts_with('#');
    let inner = text[list.span.clone()].trim_matches(['[', ']']).trim();
    if !is_last || !inner.is_empty() {
        return Err(target.too_special());
    }
    let indent = column(text, key.0) + INDENT;
    let colon = key.1.ok_or_else(|| target.too_special())?;
    let tail = rest.trim_end_matches(['\n', '\r']);
    // A comment behind the brackets stays in the line of the key.
    let with = format!("{tail}{}{}", newline(text), lines(text, item, indent));
    let with = with.trim_end_matches(['\n', '\r']).to_owned();
    Ok(Edit { range: colon..list.span.end + tail.len(), with })
}

/// Where the key of the list begins, and just after its colon.
fn key_of(target: &Target<'_>) -> Option<(usize, Option<usize>)> {
    let (Step::Key(name), around) = target.path.split_last()? else { return None };
    let map = target.find(around)?;
    let (key, _) = map.entries().iter().find(|(key, _)| key.name == *name)?;
    (!is_flow(target.text, map)).then(|| (key.span.start, after_colon(target.text, key)))
}

/// The list is not there yet.
fn new_list(target: &Target<'_>, item: &str) -> Result<Vec<Edit>, Error> {
    let (Some((Step::Key(key), around)), text) = (target.path.split_last(), target.text) else {
        return Err(target.missing());
    };
    let key = super::Scalar::Text(key).written();
    let head = |indent: usize| {
        let items = lines(text, item, indent + INDENT);
        format!("{}{key}:{}{items}", " ".repeat(indent), newline(text))
    };
    let Some(map) = target.find(around) else {
        let lines = head(0);
        let edit = at_end(text, lines.trim_end_matches(['\n', '\r']));
        return if around.is_empty() { Ok(vec![edit]) } else { Err(target.missing()) };
    };
    let (Some((first, _)), Some((last_key, last)), false) =
        (map.entries().first(), map.entries().last(), is_flow(text, map))
    else {
        return Err(target.too_special());
    };
    let indent = column(text, first.span.start);
    let ends = [trimmed(text, &last.span), last.span.end].map(|end| end.max(last_key.span.end));
    Ok(ends.map(|end| after(text, after_block(text, end, indent), &head(indent))).into())
}

/// Whether there is an empty line between the first two items.
fn are_apart(text: &str, items: &[Node]) -> bool {
    let [first, second, ..] = items else { return false };
    text[first.span.end..second.span.start.max(first.span.end)]
        .lines()
        .skip(1)
        .any(|line| line.trim().is_empty())
}

/// An item with its dash, moved to the right.
fn lines(text: &str, item: &str, indent: usize) -> String {
    let newline = newline(text);
    let spaces = " ".repeat(indent);
    let line = |(number, line): (usize, &str)| match (number, line.is_empty()) {
        (0, _) => format!("{spaces}- {line}{newline}"),
        (_, true) => newline.to_owned(),
        (_, false) => format!("{spaces}  {line}{newline}"),
    };
    item.trim_end().lines().enumerate().map(line).collect()
}
