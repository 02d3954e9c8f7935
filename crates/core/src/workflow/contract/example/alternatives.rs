//! A schema as a few plain alternatives: references followed, combinations multiplied out.

use serde_json::{Map, Value, json};

use super::super::refer;
use super::Maker;

const MOST_ALTERNATIVES: usize = 16;
/// How far references and combinations are followed without a value in between.
const MOST_STEPS: usize = 24;
const COMBINING: &[&str] = &["$ref", "allOf", "anyOf", "oneOf", "if", "then", "else"];

type Plain = Map<String, Value>;

impl Maker<'_> {
    /// Each may be taken by itself. None for a schema that nothing fits, or that goes round in a circle.
    pub(super) fn alternatives(&self, schema: &Value, steps: usize) -> Vec<Plain> {
        if steps > MOST_STEPS || self.spend(1).is_none() {
            return Vec::new();
        }
        let map = match schema {
            Value::Bool(false) => return Vec::new(),
            Value::Object(map) => map,
            _ => return vec![Plain::new()],
        };
        let plain = map.iter().filter(|(key, _)| !COMBINING.contains(&key.as_str()));
        let mut all = vec![plain.map(|(key, value)| (key.clone(), value.clone())).collect()];
        if let Some(target) = map.get("$ref") {
            let options = refer::resolve(self.root, target)
                .map_or_else(Vec::new, |found| self.alternatives(found, steps + 1));
            all = cross(&all, &options);
        }
        for part in list(map, "allOf") {
            all = cross(&all, &self.alternatives(part, steps + 1));
        }
        for key in ["oneOf", "anyOf"] {
            if map.contains_key(key) {
                let options: Vec<_> =
                    list(map, key).flat_map(|part| self.alternatives(part, steps + 1)).collect();
                all = cross(&all, &options);
            }
        }
        if let Some(condition) = map.get("if") {
            all = cross(&all, &self.branches(condition, map, steps + 1));
        }
        all
    }

    fn branches(&self, condition: &Value, map: &Plain, steps: usize) -> Vec<Plain> {
        let anything = json!(true);
        let then = self.alternatives(map.get("then").unwrap_or(&anything), steps);
        let mut branches = cross(&self.alternatives(condition, steps), &then);
        branches.extend(self.alternatives(map.get("else").unwrap_or(&anything), steps));
        branches
    }
}

fn list<'a>(map: &'a Plain, key: &str) -> impl Iterator<Item = &'a Value> {
    map.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn cross(left: &[Plain], right: &[Plain]) -> Vec<Plain> {
    let pairs = left.iter().flat_map(|one| right.iter().map(move |other| merge(one, other)));
    pairs.take(MOST_ALTERNATIVES).collect()
}

fn merge(one: &Plain, other: &Plain) -> Plain {
    let mut merged = one.clone();
    for (key, theirs) in other {
        let both = match merged.get(key) {
            None => theirs.clone(),
            Some(ours) => merge_keyword(key, ours, theirs),
        };
        merged.insert(key.clone(), both);
    }
    merged
}

/// What holds when both hold. Where that cannot be said in one keyword, ours stays and the judge decides.
fn merge_keyword(key: &str, ours: &Value, theirs: &Value) -> Value {
    match key {
        "properties" | "patternProperties" => merge_properties(ours, theirs),
        "items" | "additionalProperties" | "propertyNames" | "contains" => json!({ "allOf": [ours, theirs] }),
        "required" | "examples" => merge_lists(ours, theirs),
        "type" | "enum" => common(ours, theirs),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" | "minContains" => {
            extreme(ours, theirs, std::cmp::Ordering::Greater)
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            extreme(ours, theirs, std::cmp::Ordering::Less)
        }
        _ => ours.clone(),
    }
}

fn merge_properties(ours: &Value, theirs: &Value) -> Value {
    let (Some(ours), Some(theirs)) = (ours.as_object(), theirs.as_object()) else {
        return ours.clone();
    };
    let mut merged = ours.clone();
    for (name, schema) in theirs {
        let both = match merged.get(name) {
            None => schema.clone(),
            Some(mine) => json!({ "allOf": [mine, schema] }),
        };
        merged.insert(name.clone(), both);
    }
    Value::Object(merged)
}

fn merge_lists(ours: &Value, theirs: &Value) -> Value {
    let items = [ours, theirs].into_iter().filter_map(Value::as_array).flatten();
    let mut merged: Vec<Value> = Vec::new();
    for item in items {
        if !merged.contains(item) {
            merged.push(item.clone());
        }
    }
    Value::Array(merged)
}

fn common(ours: &Value, theirs: &Value) -> Value {
    let as_list = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    let theirs = as_list(theirs);
    // A whole number is a number.
    let has =
        |item: &Value| theirs.contains(item) || (item == "integer" && theirs.contains(&json!("number")));
    let mut shared: Vec<_> = as_list(ours).into_iter().filter(has).collect();
    if shared.is_empty() && *ours == json!("number") && theirs.contains(&json!("integer")) {
        shared.push(json!("integer"));
    }
    Value::Array(shared)
}

fn extreme(ours: &Value, theirs: &Value, wanted: std::cmp::Ordering) -> Value {
    match (ours.as_f64(), theirs.as_f64()) {
        (Some(mine), Some(other)) if other.total_cmp(&mine) == wanted => theirs.clone(),
        _ => ours.clone(),
    }
}
