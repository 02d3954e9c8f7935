//! Objects: what they must have, and what the author named.

use serde_json::{Map, Value, json};

use super::{Maker, SHOWN_LEVELS, count, weight};

/// How many objects differ from the first guess in one key.
const MOST_VARIANTS: usize = 8;
/// Objects that need more keys than this are the author's to write.
const MOST_KEYS: usize = 200;

/// A key and the values that it may have, the likeliest first.
type Slot = (String, Vec<Value>);

impl Maker<'_> {
    pub(super) fn objects(&self, schema: &Map<String, Value>, level: usize) -> Vec<Value> {
        let required = required(schema);
        let named: Vec<String> = schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        let show_all = level < SHOWN_LEVELS;
        let Some(must) = self.slots(&required, schema, level) else { return Vec::new() };
        let optional: Vec<String> =
            named.iter().filter(|name| show_all && !required.contains(name)).cloned().collect();
        let may: Vec<Slot> = optional.iter().filter_map(|name| self.slot(name, schema, level)).collect();
        let all: Vec<Slot> = must.iter().chain(&may).cloned().collect();

        let least = count(schema, "minProperties").unwrap_or(0);
        let plans = if must.is_empty() { [all, must] } else { [must, all] };
        plans.iter().flat_map(|slots| self.variants(&self.filled(slots, least, schema, level))).collect()
    }

    fn slots(&self, names: &[String], schema: &Map<String, Value>, level: usize) -> Option<Vec<Slot>> {
        names.iter().map(|name| self.slot(name, schema, level)).collect()
    }

    fn slot(&self, name: &str, schema: &Map<String, Value>, level: usize) -> Option<Slot> {
        let guesses: Vec<_> = schemas_of(name, schema)
            .into_iter()
            .flat_map(|schema| self.guesses(&schema, level + 1))
            .collect();
        (!guesses.is_empty()).then(|| (name.to_owned(), guesses))
    }

    /// The slots and as many more as `minProperties` asks for.
    fn filled(&self, slots: &[Slot], least: usize, schema: &Map<String, Value>, level: usize) -> Vec<Slot> {
        let mut slots = slots.to_vec();
        let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let names = named.map(|(name, _)| name.clone()).chain(self.fresh_names(schema, level));
        for name in names.take(MOST_KEYS) {
            if slots.len() >= least {
                break;
            }
            if slots.iter().all(|(taken, _)| *taken != name) {
                slots.extend(self.slot(&name, schema, level));
            }
        }
        slots
    }

    fn fresh_names(&self, schema: &Map<String, Value>, level: usize) -> Vec<String> {
        let rule = schema.get("propertyNames");
        let patterns = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let by_pattern = patterns.map(|(pattern, _)| json!({ "type": "string", "pattern": pattern }));
        let rules = rule.cloned().into_iter().chain(by_pattern);
        let given = rules.flat_map(|rule| self.guesses(&rule, level + 1));
        let names = given.filter_map(|name| name.as_str().map(str::to_owned));
        names.chain((1..MOST_KEYS).map(|number| format!("key{number}"))).collect()
    }

    /// The first guess for every key, then the same with one key changed.
    fn variants(&self, slots: &[Slot]) -> Vec<Value> {
        let first: Map<String, Value> =
            slots.iter().map(|(name, guesses)| (name.clone(), guesses[0].clone())).collect();
        let first = Value::Object(first);
        let size = weight(&first);
        let changes =
            slots.iter().flat_map(|(name, guesses)| guesses.iter().skip(1).map(move |other| (name, other)));
        let changed = changes.take(MOST_VARIANTS).map_while(|(name, other)| {
            self.spend(size)?;
            let mut variant = first.clone();
            variant[name.as_str()] = other.clone();
            Some(variant)
        });
        let changed: Vec<_> = changed.collect();
        std::iter::once(first).chain(changed).collect()
    }
}

/// What must be there, with what that in turn asks for.
fn required(schema: &Map<String, Value>) -> Vec<String> {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut names = schema.get("required").map(texts).unwrap_or_default();
    let dependent = schema.get("dependentRequired").or_else(|| schema.get("dependencies"));
    let mut next = 0;
    while let Some(name) = names.get(next).cloned() {
        for also in dependent.and_then(|map| map.get(&name)).map(texts).unwrap_or_default() {
            if !names.contains(&also) {
                names.push(also);
            }
        }
        next += 1;
    }
    names
}

/// The schemas that may apply to a key. Which pattern a key matches is left to the judge.
fn schemas_of(name: &str, schema: &Map<String, Value>) -> Vec<Value> {
    if let Some(own) = schema.get("properties").and_then(|properties| properties.get(name)) {
        return vec![own.clone()];
    }
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    let by_pattern = patterns.into_iter().flatten().map(|(_, schema)| schema.clone());
    by_pattern.chain([schema.get("additionalProperties").cloned().unwrap_or(json!(true))]).collect()
}
