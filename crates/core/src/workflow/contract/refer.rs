//! References inside one schema. Nothing is fetched.

use serde_json::Value;

/// What a `$ref` leads to, by place or by anchor.
pub(super) fn resolve<'a>(root: &'a Value, target: &Value) -> Option<&'a Value> {
    let fragment = target.as_str()?.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(fragment);
    }
    anchor(root, fragment)
}

fn anchor<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(map) => {
            if map.get("$anchor").and_then(Value::as_str) == Some(name) {
                return Some(schema);
            }
            map.values().find_map(|inner| anchor(inner, name))
        }
        Value::Array(items) => items.iter().find_map(|inner| anchor(inner, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
