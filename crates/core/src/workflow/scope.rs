//! What conditions and templates see: the vars of a session, and the loop variables around a step.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::allowance::Allowance;

/// The names that are in reach of one step.
#[derive(Debug, Clone)]
pub struct Scope<'a> {
    pub vars: &'a BTreeMap<String, Arc<Value>>,
    /// Loop variables. They win over vars of the same name.
    pub local: BTreeMap<String, Value>,
    pub allowance: Allowance,
}

/// What a path led to. A null counts as missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Found<'a> {
    Value(Cow<'a, Value>),
    Missing,
    /// The path goes on below `prefix`, but the value there has no parts of that name.
    WrongType {
        prefix: String,
        value: &'a Value,
    },
}

impl Found<'_> {
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing | Self::WrongType { .. } => None,
        }
    }
}

impl<'a> Scope<'a> {
    /// A scope without loop variables.
    pub fn new(vars: &'a BTreeMap<String, Arc<Value>>) -> Self {
        Self { vars, local: BTreeMap::new(), allowance: Allowance::default() }
    }

    /// Follows a dot path. A key with that exact name wins; numbers pick from arrays; `length` counts the items
    /// of an array and the characters of a string.
    pub fn lookup(&self, path: &str) -> Found<'_> {
        if let Some(value) = self.root(path) {
            return found(value);
        }
        let mut ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
        let root_end = ends.next().unwrap_or(path.len());
        let Some(mut value) = self.root(&path[..root_end]) else {
            return Found::Missing;
        };
        let mut prefix_end = root_end;
        for end in ends {
            let segment = &path[prefix_end + 1..end];
            match child(value, segment) {
                Child::Value(next) => value = next,
                Child::Length(length) if end == path.len() => {
                    return Found::Value(Cow::Owned(Value::from(length)));
                }
                Child::Missing => return Found::Missing,
                Child::Length(_) | Child::None => {
                    return Found::WrongType { prefix: path[..prefix_end].to_owned(), value };
                }
            }
            prefix_end = end;
        }
        found(value)
    }

    fn root(&self, name: &str) -> Option<&Value> {
        self.local.get(name).or_else(|| self.vars.get(name).map(Arc::as_ref))
    }
}

fn found(value: &Value) -> Found<'_> {
    match value {
        Value::Null => Found::Missing,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            Found::Value(Cow::Borrowed(value))
        }
    }
}

enum Child<'a> {
    Value(&'a Value),
    Length(usize),
    Missing,
    /// A value of this type has no such part.
    None,
}

fn child<'a>(value: &'a Value, segment: &str) -> Child<'a> {
    let part = match value {
        Value::Null => None,
        Value::Object(fields) => fields.get(segment),
        Value::Array(items) if segment == "length" => return Child::Length(items.len()),
        Value::Array(items) => match segment.parse::<usize>() {
            Ok(index) => items.get(index),
            Err(_) => return Child::None,
        },
        Value::String(text) if segment == "length" => return Child::Length(text.chars().count()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => return Child::None,
    };
    part.map_or(Child::Missing, Child::Value)
}

/// The word for a value's type.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The same as it stands in a sentence.
pub fn type_in_words(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value as it is written inside text: strings as they are, everything else as compact JSON.
pub fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Cow::Owned(value.to_string())
        }
    }
}

/// A value as JSON, cut where it is long: for messages.
pub fn preview(value: &Value) -> String {
    cut(&value.to_string(), 60)
}

/// The first `most` characters, and a mark if there were more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn vars(value: &Value) -> BTreeMap<String, Arc<Value>> {
        let fields = value.as_object().expect("the tests give objects");
        fields.iter().map(|(name, value)| (name.clone(), Arc::new(value.clone()))).collect()
    }

    #[test]
    fn a_path_leads_to_what_lies_there() {
        let vars = vars(&json!({
            "plan": {"slices": [{"name": "one"}, {"name": "two"}], "length": "long"},
            "plan.risk": "flat", "word": "größe", "nothing": null, "a.b": {"c": 1},
        }));
        let scope = Scope::new(&vars);
        let table = [
            ("plan.slices.1.name", Some(json!("two"))),
            ("plan.slices.length", Some(json!(2))),
            ("plan.length", Some(json!("long"))),
            ("word.length", Some(json!(5))),
            ("plan.risk", Some(json!("flat"))),
            ("plan.slices.2", None),
            ("plan.slices.2.name", None),
            ("nothing", None),
            ("nothing.more", None),
            ("absent", None),
            ("", None),
            (".", None),
            ("a.b.c", None),
        ];
        for (path, wanted) in table {
            assert_eq!(scope.lookup(path).value().cloned(), wanted, "{path}");
        }
    }

    #[test]
    fn a_value_without_parts_is_named_with_its_path() {
        let vars = vars(&json!({"plan": {"name": "x", "slices": [1]}}));
        let scope = Scope::new(&vars);
        let name = json!("x");
        assert_eq!(
            scope.lookup("plan.name.first.second"),
            Found::WrongType { prefix: "plan.name".into(), value: &name }
        );
        let slices = json!([1]);
        assert_eq!(
            scope.lookup("plan.slices.first"),
            Found::WrongType { prefix: "plan.slices".into(), value: &slices }
        );
        assert_eq!(
            scope.lookup("plan.slices.length.x"),
            Found::WrongType { prefix: "plan.slices".into(), value: &slices }
        );
    }

    #[test]
    fn loop_variables_win_over_vars() {
        let vars = vars(&json!({"item": "outer", "item.name": "flat"}));
        let mut scope = Scope::new(&vars);
        scope.local.insert("item".into(), json!({"title": "inner"}));
        assert_eq!(scope.lookup("item.title").value(), Some(&json!("inner")));
        assert_eq!(scope.lookup("item").value(), Some(&json!({"title": "inner"})));
    }
}
