//! Conditions over vars, and patterns over texts: `{"condition": …, "vars": {…}}` or `{"pattern", "flags", "text"}`.

use std::collections::BTreeMap;
use std::sync::Arc;

use longhaul_core::workflow::condition::{Condition, Test};
use longhaul_core::workflow::pattern::Pattern;
use longhaul_core::workflow::preview::words;
use longhaul_core::workflow::scope::Scope;
use serde_json::{Map, Value};

use super::draw::Draw;

const PIECES: &[&str] = &[
    "a",
    "b",
    "é",
    ".",
    "\\d",
    "\\w",
    "\\s",
    "\\b",
    "\\B",
    "[a-c]",
    "[^a]",
    "[\\d-]",
    "(",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?<n>",
    ")",
    ")",
    ")",
    "|",
    "*",
    "+",
    "?",
    "*?",
    "{2}",
    "{1,}",
    "{0,3}",
    "{99}",
    "^",
    "$",
    "\\1",
    "\\k<n>",
    "\\u0061",
    "\\u{1F600}",
    "\\p{Lu}",
    "\\P{L}",
    "\\x41",
    "\\cA",
    "\\0",
    "[",
    "]",
    "-",
    "\\",
    "/",
];
const FLAGS: &[&str] = &["", "i", "m", "s", "u", "v", "y", "g", "d", "im", "su", "iu", "ii", "q"];

pub fn run(bytes: &[u8]) {
    if let Some(choices) = bytes.strip_prefix(b"!") {
        let draw = &mut Draw::new(choices);
        if draw.below(2) == 0 {
            let (pattern, flags) = (pattern(draw), *draw.one_of(FLAGS));
            match_pattern(&pattern, flags, &draw.text());
        } else {
            judge(&condition(draw, 4), draw.object());
        }
        return;
    }
    let Ok(Value::Object(mut input)) = serde_json::from_slice(bytes) else { return };
    if let Some(pattern) = input.get("pattern").and_then(Value::as_str) {
        let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
        match_pattern(pattern, text("flags"), text("text"));
    }
    let condition = input.remove("condition").map(serde_json::from_value);
    if let Some(Ok(condition)) = condition {
        let vars = input.remove("vars").and_then(|vars| vars.as_object().cloned());
        judge(&condition, vars.unwrap_or_default());
    }
}

fn match_pattern(pattern: &str, flags: &str, text: &str) {
    match Pattern::new(pattern, flags) {
        Ok(pattern) => {
            assert_eq!(pattern.is_match(text), pattern.is_match(text), "matching is deterministic");
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

fn judge(condition: &Condition, vars: Map<String, Value>) {
    let vars: BTreeMap<_, _> = vars.into_iter().map(|(name, value)| (name, Arc::new(value))).collect();
    // Each has an allowance of its own.
    let scope = Scope::new(&vars);
    let judged = condition.judge(&scope);
    assert!(!judged.because.is_empty(), "every judgement has a reason");
    assert_eq!(judged, condition.judge(&Scope::new(&vars)), "judging is deterministic");
    let opposite = Condition::Not(Box::new(condition.clone())).judge(&Scope::new(&vars));
    assert_ne!(judged.holds, opposite.holds, "`not` turns it round");
    assert!(condition.paths().iter().all(|path| scope.lookup(path) == scope.lookup(path)));
    assert!(!words::condition(condition).is_empty(), "every condition can be said");
}

fn condition(draw: &mut Draw<'_>, levels: u32) -> Condition {
    let kinds = if levels == 0 { 2 } else { 5 };
    match draw.below(kinds) {
        0 | 1 => {
            let count = draw.below(4);
            Condition::Var { path: draw.text(), tests: (0..count).map(|_| test(draw)).collect() }
        }
        2 => Condition::Not(Box::new(condition(draw, levels - 1))),
        3 => Condition::All(several(draw, levels - 1)),
        _ => Condition::Any(several(draw, levels - 1)),
    }
}

fn several(draw: &mut Draw<'_>, levels: u32) -> Vec<Condition> {
    let count = draw.below(4);
    (0..count).map(|_| condition(draw, levels)).collect()
}

fn test(draw: &mut Draw<'_>) -> Test {
    match draw.below(12) {
        0 => Test::Equals(draw.value()),
        1 => Test::NotEquals(draw.value()),
        2 => Test::Gt(draw.value()),
        3 => Test::Gte(draw.value()),
        4 => Test::Lt(draw.value()),
        5 => Test::Lte(draw.value()),
        6 => Test::In(vec![draw.value(), draw.value()]),
        7 => Test::Contains(draw.value()),
        8 => Test::StartsWith(draw.text()),
        9 => Test::EndsWith(draw.text()),
        _ => Test::Matches(pattern(draw)),
    }
}

fn pattern(draw: &mut Draw<'_>) -> String {
    let pieces = draw.below(24);
    (0..pieces).map(|_| *draw.one_of(PIECES)).collect()
}
