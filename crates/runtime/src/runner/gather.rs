//! Gathering a named input: the first place that has something wins. What is found is data, never a command.

use std::fs;
use std::path::{Component, Path};

use longhaul_core::workflow::step::{Gather, GatherFrom};
use serde_json::{Value, json};

use super::Place;
use crate::commands::walking::WorkOrder;

const LARGEST_FILE_BYTES: u64 = 256 * 1024;
const MOST_FILES: usize = 20;

pub(super) fn gather(gather: &Gather, order: &WorkOrder, place: &Place<'_>) -> Value {
    let mut looked = Vec::new();
    for from in &gather.from {
        let found = match from {
            GatherFrom::Injected => injected(gather, order),
            GatherFrom::Url => url(gather, order),
            GatherFrom::Paths(pattern) => files(pattern, place),
            // Items come with the backlog.
            GatherFrom::Item => None,
        };
        match found {
            Some(value) => return json!({ "found": true, "value": value }),
            None => looked.push(word(from)),
        }
    }
    json!({ "found": false, "looked": looked })
}

fn word(from: &GatherFrom) -> &str {
    match from {
        GatherFrom::Injected => "injected",
        GatherFrom::Item => "item",
        GatherFrom::Url => "url",
        GatherFrom::Paths(pattern) => pattern,
    }
}

fn injected(gather: &Gather, order: &WorkOrder) -> Option<Value> {
    order.scope().lookup(&gather.into).value().filter(|value| !value.is_null()).cloned()
}

/// A pointer, not its content: whoever needs it fetches it with their own rights.
fn url(gather: &Gather, order: &WorkOrder) -> Option<Value> {
    let scope = order.scope();
    let text_of = |name: &str| scope.lookup(name).value().and_then(Value::as_str).map(str::to_owned);
    let named = text_of(&format!("{}_url", gather.into)).filter(|text| is_url(text));
    let in_goal = || {
        text_of("goal").and_then(|goal| goal.split_whitespace().find(|word| is_url(word)).map(str::to_owned))
    };
    named.or_else(in_goal).map(|url| json!({ "url": url }))
}

fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

fn files(pattern: &str, place: &Place<'_>) -> Option<Value> {
    let top = place.directory.as_deref()?.canonicalize().ok()?;
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(pattern).components().all(inside) {
        return None;
    }
    let full = format!("{}/{pattern}", glob::Pattern::escape(top.to_str()?));
    let paths = glob::glob(&full).ok()?.filter_map(Result::ok);
    let found: Vec<Value> = paths.filter_map(|path| file(&path, &top)).take(MOST_FILES).collect();
    (!found.is_empty()).then(|| json!({ "files": found }))
}

/// A link that leads out of the checkout is not followed.
fn file(path: &Path, top: &Path) -> Option<Value> {
    let real = path.canonicalize().ok().filter(|real| real.starts_with(top))?;
    let metadata = fs::metadata(&real).ok().filter(fs::Metadata::is_file)?;
    let name = path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned();
    if metadata.len() > LARGEST_FILE_BYTES {
        return Some(json!({ "path": name, "too_large_bytes": metadata.len() }));
    }
    let bytes = fs::read(&real).ok()?;
    // Nobody who gets it could do anything with it, and nothing else that a session keeps has a NUL in it.
    if bytes.contains(&0) {
        return Some(json!({ "path": name, "binary_bytes": metadata.len() }));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(json!({ "path": name, "text": text }))
}
