//! The arguments of a call, read once and with words for what does not fit.

use serde_json::{Map, Value};

use crate::name;
use crate::refusal::Refusal;

/// How many arguments are named that a tool does not know.
const MOST_NAMED: usize = 5;

/// What a client sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Refuses what the tool does not know: a field that is dropped in silence is work lost.
    pub(crate) fn new(fields: Map<String, Value>, known: &[&str]) -> Result<Self, Refusal> {
        let unknown: Vec<String> = fields
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .take(MOST_NAMED)
            .map(|name| format!("`{}`", name::shown(name)))
            .collect();
        if unknown.is_empty() {
            return Ok(Self(fields.into_iter().filter(|(_, value)| !value.is_null()).collect()));
        }
        let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
        Err(Refusal::bad(format!(
            "{} is no argument of this tool; it takes {}",
            unknown.join(", "),
            known.join(", ")
        )))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional_text(name)?
            .ok_or_else(|| Refusal::bad(format!("`{name}` is missing; call again with a text for it")))
    }

    /// The name of something. What is longer than any name is not looked for.
    pub(crate) fn name(&self, field: &str) -> Result<&str, Refusal> {
        const MOST_BYTES: usize = 4_096;
        let text = self.text(field)?;
        if text.len() <= MOST_BYTES {
            return Ok(text);
        }
        Err(Refusal::bad(format!("`{field}` is `{}`, which is longer than any name", name::shown(text))))
    }

    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a text", other)),
        }
    }

    pub(crate) fn object(&self, name: &str) -> Result<Map<String, Value>, Refusal> {
        match self.0.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields.clone()),
            Some(other) => Err(wrong(name, "an object", other)),
        }
    }

    /// The vars, under either of their names.
    pub(crate) fn vars(&self) -> Result<Map<String, Value>, Refusal> {
        if self.has("context") && self.has("vars") {
            return Err(Refusal::bad("`context` and `vars` say the same thing twice; leave one out"));
        }
        self.object(if self.has("vars") { "vars" } else { "context" })
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&str>, Refusal> {
        let Some(value) = self.0.get(name) else { return Ok(Vec::new()) };
        let texts: Option<Vec<&str>> =
            value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| wrong(name, "a list of texts", value))
    }

    /// One of a few words; the first stands for none.
    pub(crate) fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, Refusal> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        let found = choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice);
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
        let refusal = || {
            Refusal::bad(format!("`{name}` is `{}`; it is one of {}", name::shown(text), words.join(", ")))
        };
        found.map(Some).ok_or_else(refusal)
    }

    /// All fields but these.
    pub(crate) fn without(&self, names: &[&str]) -> Map<String, Value> {
        let kept = self.0.iter().filter(|(name, _)| !names.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

fn wrong(name: &str, wanted: &str, found: &Value) -> Refusal {
    let found = match found {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Refusal::bad(format!("`{name}` is {found}, not {wanted}; call again with {wanted}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Result<Arguments, Refusal> {
        let Value::Object(fields) = value else { unreachable!("tests give objects") };
        Arguments::new(fields, &["goal", "mode"])
    }

    #[test]
    fn what_is_unknown_missing_or_of_the_wrong_type_is_named() {
        let unknown = arguments(json!({"gaol": "x"})).unwrap_err();
        assert_eq!(unknown.message, "`gaol` is no argument of this tool; it takes `goal`, `mode`");
        let missing = arguments(json!({"goal": null})).unwrap();
        assert!(missing.text("goal").unwrap_err().message.starts_with("`goal` is missing"));
        let wrong = arguments(json!({"goal": 7})).unwrap();
        assert!(wrong.text("goal").unwrap_err().message.starts_with("`goal` is a number, not a text"));
        let choice = arguments(json!({"mode": "b"})).unwrap();
        assert_eq!(choice.choice("mode", &[("a", 1), ("b", 2)]).unwrap(), Some(2));
        assert!(choice.choice("mode", &[("a", 1)]).is_err());
    }
}
