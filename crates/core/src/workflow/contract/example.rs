//! An example of a schema: the author's own words first, else one made from the keywords.
//!
//! What is made are guesses, a few of them; the one that is taken has been judged by the schema itself. So a
//! keyword that nothing here knows costs at most an example, never a wrong one.

mod alternatives;
mod list;
mod number;
mod object;
mod text;

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// How deep an example may lie.
const MOST_LEVELS: usize = 12;
/// From this depth on only what must be there is shown.
const SHOWN_LEVELS: usize = 3;
/// How many guesses are made for one schema.
const MOST_GUESSES: usize = 24;
/// How much may be made altogether, counted in values.
const MOST_WORK: usize = 10_000;

/// Makes a value that `fits`, or nothing.
pub(super) fn make(schema: &Value, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let maker = Maker { root: schema, work: Cell::new(MOST_WORK) };
    maker.guesses(schema, 0).into_iter().find(|guess| fits(guess))
}

struct Maker<'a> {
    root: &'a Value,
    work: Cell<usize>,
}

impl Maker<'_> {
    /// Values that may fit, the likeliest first.
    fn guesses(&self, schema: &Value, level: usize) -> Vec<Value> {
        if level > MOST_LEVELS || self.spend(1).is_none() {
            return Vec::new();
        }
        let mut guesses = Vec::new();
        for alternative in self.alternatives(schema, 0) {
            for guess in self.of_alternative(&alternative, level) {
                if guesses.len() < MOST_GUESSES && !guesses.contains(&guess) {
                    guesses.push(guess);
                }
            }
        }
        guesses
    }

    fn of_alternative(&self, schema: &Map<String, Value>, level: usize) -> Vec<Value> {
        let mut guesses = given(schema);
        if !schema.contains_key("const") && !schema.contains_key("enum") {
            for kind in kinds(schema) {
                guesses.extend(self.of_kind(kind, schema, level));
            }
        }
        guesses
    }

    fn of_kind(&self, kind: &str, schema: &Map<String, Value>, level: usize) -> Vec<Value> {
        match kind {
            "string" => text::guesses(schema).into_iter().map(Value::String).collect(),
            "integer" => number::guesses(schema, number::Kind::Whole),
            "number" => number::guesses(schema, number::Kind::Any),
            "boolean" => vec![json!(true), json!(false)],
            "null" => vec![Value::Null],
            "array" => self.lists(schema, level),
            "object" => self.objects(schema, level),
            _ => Vec::new(),
        }
    }

    /// Takes from the work that is left; nothing when it is used up.
    fn spend(&self, amount: usize) -> Option<()> {
        let left = self.work.get().checked_sub(amount)?;
        self.work.set(left);
        Some(())
    }
}

/// What the author wrote: examples, then the default, then the only values there are.
fn given(schema: &Map<String, Value>) -> Vec<Value> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten().cloned();
    let one = |key: &str| schema.get(key).cloned();
    list("examples")
        .chain(one("example"))
        .chain(one("default"))
        .chain(one("const"))
        .chain(list("enum"))
        .take(MOST_GUESSES)
        .collect()
}

/// Keywords that only mean something for one type, so that a schema without `type` still says what it is for.
const TELLING: &[(&str, &[&str])] = &[
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "propertyNames",
        ],
    ),
    ("array", &["items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"]),
    ("string", &["pattern", "minLength", "maxLength", "format"]),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => return vec![kind.as_str()],
        Some(Value::Array(kinds)) => return kinds.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let told: Vec<_> = TELLING
        .iter()
        .filter(|(_, keys)| keys.iter().any(|key| schema.contains_key(*key)))
        .map(|(kind, _)| *kind)
        .collect();
    if told.is_empty() { vec!["string", "object", "integer", "array", "boolean", "null"] } else { told }
}

/// How many values a value holds, itself included.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(weight).sum::<usize>(),
        Value::String(text) => 1 + text.len() / 64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

fn count(schema: &Map<String, Value>, key: &str) -> Option<usize> {
    let number = schema.get(key)?;
    // 2.0 is a count too, says JSON Schema.
    let float = || number.as_f64().map(|float| format!("{float:.0}"))?.parse().ok();
    usize::try_from(number.as_u64().or_else(float)?).ok()
}
