//! What a contract asks for, in a line: names, types, and what may be left out. The schema says the rest.

use serde_json::{Map, Value};

use super::words::one_of;

/// How many names are told of one object.
const MOST_NAMES: usize = 12;
/// How many values of a list of choices are told.
const MOST_VALUES: usize = 6;

/// The shape of what fits a schema, as short as it is of use.
pub(super) fn shape(schema: &Value) -> String {
    let shape = Shape { whole: schema };
    match shape.properties(schema) {
        Some(properties) => shape.object(schema, properties),
        None => shape.kind(schema),
    }
}

struct Shape<'a> {
    /// Where references lead into.
    whole: &'a Value,
}

impl<'a> Shape<'a> {
    fn properties(&self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        self.resolved(schema)["properties"].as_object().filter(|properties| !properties.is_empty())
    }

    /// One step of a reference; what leads on or out of the schema stays unsaid.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
        let pointer = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.whole.pointer(pointer)).unwrap_or(schema)
    }

    fn object(&self, schema: &'a Value, properties: &'a Map<String, Value>) -> String {
        let required = self.required(schema);
        let told = properties.iter().map(|(name, schema)| {
            let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
            format!("{name} ({}{optional})", self.kind(schema))
        });
        named(told.collect())
    }

    fn required(&self, schema: &'a Value) -> Vec<&'a str> {
        let names = self.resolved(schema)["required"].as_array();
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn kind(&self, schema: &'a Value) -> String {
        let schema = self.resolved(schema);
        if let Some(only) = schema.get("const") {
            return only.to_string();
        }
        if let Some(values) = schema["enum"].as_array() {
            return choices(values);
        }
        match &schema["type"] {
            Value::String(kind) => self.typed(kind, schema),
            Value::Array(kinds) => {
                let told: Vec<String> =
                    kinds.iter().filter_map(Value::as_str).map(|kind| self.typed(kind, schema)).collect();
                told.join(" or ")
            }
            _ if schema.get("properties").is_some() => self.typed("object", schema),
            _ if schema.get("items").is_some() => self.typed("array", schema),
            _ => "anything".to_owned(),
        }
    }

    fn typed(&self, kind: &str, schema: &'a Value) -> String {
        match kind {
            "string" => "a text".to_owned(),
            "number" => "a number".to_owned(),
            "integer" => "a whole number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "null" => "null".to_owned(),
            "array" => match schema.get("items").map(|items| self.entries(items)) {
                Some(entries) => format!("a list of {entries}"),
                None => "a list".to_owned(),
            },
            "object" => format!("an object{}", self.names(schema)),
            _ => "anything".to_owned(),
        }
    }

    /// What is in a list.
    fn entries(&self, items: &'a Value) -> String {
        let items = self.resolved(items);
        match items["type"].as_str() {
            Some("string") if items.get("enum").is_none() => "texts".to_owned(),
            Some("number" | "integer") => "numbers".to_owned(),
            Some("object") => format!("objects{}", self.names(items)),
            Some("array") => "lists".to_owned(),
            Some(_) | None => self.kind(items),
        }
    }

    /// The names inside of a part, without their types: deeper would not be short.
    fn names(&self, schema: &'a Value) -> String {
        let Some(properties) = self.properties(schema) else { return String::new() };
        let required = self.required(schema);
        let told = properties
            .keys()
            .map(|name| if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") });
        format!(" with {}", named(told.collect()))
    }
}

fn choices(values: &[Value]) -> String {
    match values.get(..MOST_VALUES) {
        Some(first) if first.len() < values.len() => {
            let first: Vec<String> = first.iter().map(Value::to_string).collect();
            format!("{} or {} more", first.join(", "), values.len() - MOST_VALUES)
        }
        Some(_) | None => one_of(values),
    }
}

fn named(mut told: Vec<String>) -> String {
    if told.len() > MOST_NAMES {
        let more = told.len() - MOST_NAMES;
        told.truncate(MOST_NAMES);
        told.push(format!("and {more} more"));
    }
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_types_and_what_may_be_left_out_are_told_and_no_more() {
        let schema = json!({
            "type": "object",
            "required": ["outcome", "checks"],
            "properties": {
                "outcome": { "enum": ["passed", "failed"] },
                "checks": { "type": "array", "items": { "$ref": "#/$defs/check" } },
                "count": { "type": ["integer", "null"] },
                "where": { "type": "object", "properties": { "file": {}, "line": {} }, "required": ["file"] },
                "tags": { "type": "array", "items": { "type": "string" } },
                "else": {}
            },
            "$defs": { "check": {
                "type": "object", "required": ["what"], "properties": { "what": { "type": "string" }, "why": {} }
            } }
        });
        assert_eq!(
            shape(&schema),
            "outcome (one of \"passed\", \"failed\"), checks (a list of objects with what, why?), \
             count (a whole number or null, optional), where (an object with file, line?, optional), \
             tags (a list of texts, optional), else (anything, optional)"
        );
    }

    #[test]
    fn what_has_no_names_is_told_by_its_type_and_what_is_long_is_cut() {
        assert_eq!(shape(&json!({ "type": "array", "items": { "enum": [1, 2] } })), "a list of one of 1, 2");
        assert_eq!(shape(&json!(true)), "anything");
        assert_eq!(shape(&json!({ "$ref": "#/$defs/none" })), "anything");
        let many: Map<String, Value> = (10..40).map(|n| (format!("p{n}"), json!({ "const": n }))).collect();
        let told = shape(&json!({ "properties": many }));
        assert!(
            told.starts_with("p10 (10, optional), ") && told.ends_with("p21 (21, optional), and 18 more"),
            "{told}"
        );
        let values: Vec<u32> = (1..=9).collect();
        assert_eq!(shape(&json!({ "enum": values })), "1, 2, 3, 4, 5, 6 or 3 more");
    }
}
