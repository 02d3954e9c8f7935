//! Whether arguments fit the schema that a tool declares. The schemas are ours and flat, so a few words of theirs do.

use longhaul_events::Reason;
use serde_json::{Map, Value};

/// Everything that does not fit, each with a remedy. A field that is dropped in silence is work lost, so what the tool
/// does not know is refused too.
pub(super) fn unfit(schema: &Value, arguments: &Map<String, Value>) -> Vec<Reason> {
    let known = schema["properties"].as_object().expect("our schemas have properties");
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let mut reasons = Vec::new();
    for (name, value) in arguments.iter().filter(|(_, value)| !value.is_null()) {
        let Some(wanted) = known.get(name) else {
            let message = format!("`{name}` is no argument of this tool");
            let fix = format!("it takes {}", names.join(", "));
            reasons.push(Reason::new("unknown_argument", message, fix));
            continue;
        };
        reasons.extend(misfit(name, wanted, value));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| arguments.get(*name).is_none_or(Value::is_null));
    reasons.extend(missing.map(|name| {
        Reason::new("missing_argument", format!("`{name}` is missing"), format!("give a value for `{name}`"))
    }));
    reasons
}

fn misfit(name: &str, wanted: &Value, value: &Value) -> Option<Reason> {
    let wrong = |wanted: String| {
        let message = format!("`{name}` is not {wanted}");
        Some(Reason::new("wrong_argument", message, format!("give {wanted} for `{name}`")))
    };
    if let Some(choices) = wanted["enum"].as_array() {
        let words: Vec<String> =
            choices.iter().map(|choice| format!("`{}`", choice.as_str().unwrap_or_default())).collect();
        return if choices.contains(value) { None } else { wrong(format!("one of {}", words.join(", "))) };
    }
    let (fits, words) = match wanted["type"].as_str() {
        Some("string") => (value.as_str().is_some_and(|text| !text.trim().is_empty()), "a text"),
        Some("object") => (value.is_object(), "an object"),
        Some("array") if wanted["items"]["type"] == "string" => {
            (value.as_array().is_some_and(|items| items.iter().all(Value::is_string)), "a list of texts")
        }
        Some("array") => (value.is_array(), "a list, even of one"),
        Some(_) | None => (true, "anything"),
    };
    if fits { None } else { wrong(words.to_owned()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_unknown_missing_or_of_another_kind_is_told_at_once() {
        let schema = json!({
            "properties": {
                "summary": { "type": "string" }, "severity": { "enum": ["major", "minor"] },
                "options": { "type": "array", "items": { "type": "string" } }, "vars": { "type": "object" },
            },
            "required": ["summary"],
        });
        let codes = |value: Value| {
            let Value::Object(fields) = value else { unreachable!("tests give objects") };
            unfit(&schema, &fields).into_iter().map(|reason| reason.code).collect::<Vec<_>>()
        };
        assert_eq!(
            codes(json!({"summary": "x", "severity": "minor", "options": ["a"], "vars": {}})),
            [""; 0]
        );
        assert_eq!(codes(json!({"summary": null})), ["missing_argument"]);
        assert_eq!(codes(json!({"summary": " "})), ["wrong_argument"]);
        assert_eq!(
            codes(json!({"summary": "x", "severity": "huge", "options": [1], "vars": 7, "urgent": true})),
            ["wrong_argument", "wrong_argument", "wrong_argument", "unknown_argument"]
        );
    }
}
