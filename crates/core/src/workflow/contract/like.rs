//! An example for the branch that an artifact chose: what a schema asks of `failed` is not shown by a `passed` one.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::problem::mention;
use super::{example, refer};

/// How far combinations are followed.
const MOST_LEVELS: usize = 8;

/// The author's example if it makes the same choices, else one that does, else the author's after all.
pub(super) fn make(schema: &Value, validator: &Validator, artifact: &Value, usual: &Value) -> Value {
    let choices = choices(schema, artifact);
    let agrees = |value: &Value| choices.iter().all(|(name, chosen)| value.get(name) == Some(chosen));
    if agrees(usual) {
        return usual.clone();
    }
    let fits = |value: &Value| agrees(value) && validator.is_valid(value);
    let Some(made) = example::make(&narrowed(schema, &choices), fits) else { return usual.clone() };
    mixed(usual, &choices, &made, validator).filter(fits).unwrap_or(made)
}

/// The author's words wherever they still fit.
fn mixed(usual: &Value, choices: &Map<String, Value>, made: &Value, validator: &Validator) -> Option<Value> {
    let mut mixed = usual.as_object()?.clone();
    mixed.extend(choices.clone());
    let mut value = Value::Object(mixed);
    let wrong: Vec<String> = validator
        .iter_errors(&value)
        .filter_map(|error| error.instance_path().as_str().split('/').nth(1).map(str::to_owned))
        .collect();
    for name in wrong {
        value[name.as_str()] = made.get(&name)?.clone();
    }
    Some(value)
}

/// The keys that conditions of the schema look at, with what the artifact has there.
fn choices(schema: &Value, artifact: &Value) -> Map<String, Value> {
    let mut mentions = Vec::new();
    gather(schema, schema, 0, &mut mentions);
    let names =
        mentions.iter().filter_map(|place| place.strip_prefix('/')).filter(|name| !name.contains('/'));
    let chosen = names.filter_map(|name| Some((name.to_owned(), artifact.get(name)?.clone())));
    // What is a list or an object is the work itself, and not a choice.
    chosen.filter(|(_, value)| !value.is_array() && !value.is_object()).collect()
}

fn gather(root: &Value, schema: &Value, level: usize, found: &mut Vec<String>) {
    if level > MOST_LEVELS {
        return;
    }
    if let Some(condition) = schema.get("if") {
        mention(condition, "", 0, found);
    }
    for keyword in ["oneOf", "anyOf"] {
        for branch in schema.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            let constants = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
            let constants = constants.filter(|(_, inner)| inner.get("const").is_some());
            found.extend(constants.map(|(name, _)| format!("/{name}")));
        }
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        gather(root, part, level + 1, found);
    }
    for keyword in ["then", "else"] {
        schema.get(keyword).into_iter().for_each(|part| gather(root, part, level + 1, found));
    }
    if let Some(part) = schema.get("$ref").and_then(|target| refer::resolve(root, target)) {
        gather(root, part, level + 1, found);
    }
}

/// The schema with the choices fixed, and without examples that were written for others.
fn narrowed(schema: &Value, choices: &Map<String, Value>) -> Value {
    let mut narrowed = schema.clone();
    let Some(fields) = narrowed.as_object_mut() else { return narrowed };
    let fixed: Map<String, Value> =
        choices.iter().map(|(name, value)| (name.clone(), json!({ "const": value }))).collect();
    let names: Vec<&String> = choices.keys().collect();
    let part = json!({ "properties": fixed, "required": names });
    match fields.get_mut("allOf").and_then(Value::as_array_mut) {
        // At the end, so that references by place still lead where they did.
        Some(parts) => parts.push(part),
        None => {
            fields.insert("allOf".to_owned(), json!([part]));
        }
    }
    narrowed
}
