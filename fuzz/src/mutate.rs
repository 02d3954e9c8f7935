//! Small changes to documents that were valid, so that what comes out is almost valid.

use serde_json::Value;

use super::draw::Draw;

/// Documents to begin with, and to take parts from.
#[derive(Debug)]
pub(crate) struct Pool {
    documents: Vec<Value>,
    /// Every key with its value, of every document.
    fields: Vec<(String, Value)>,
}

impl Pool {
    pub(crate) fn of(documents: Vec<Value>) -> Self {
        let mut fields = Vec::new();
        documents.iter().for_each(|document| gather(document, &mut fields));
        Self { documents, fields }
    }

    /// One of the documents, changed in a few places.
    pub(crate) fn mutated(&self, draw: &mut Draw<'_>) -> Value {
        let mut document = draw.one_of(&self.documents).clone();
        let changes = 1 + draw.below(6);
        for _ in 0..changes {
            self.change(&mut document, draw);
        }
        document
    }

    fn change(&self, document: &mut Value, draw: &mut Draw<'_>) {
        let mut at = draw.below(count(document));
        let Some(value) = find(document, &mut at) else { return };
        match draw.below(8) {
            0 => *value = draw.value(),
            1 => *value = draw.one_of(&self.fields).1.clone(),
            2 => *value = Value::Array(vec![value.take(), draw.value()]),
            3 => *value = Value::Object([(draw.text(), value.take())].into_iter().collect()),
            4 => remove(value, draw),
            _ => self.insert(value, draw),
        }
    }

    fn insert(&self, value: &mut Value, draw: &mut Draw<'_>) {
        match value {
            Value::Object(fields) => {
                let (key, field) = draw.one_of(&self.fields).clone();
                fields.insert(key, field);
            }
            Value::Array(items) if !items.is_empty() => {
                let item = draw.one_of(items).clone();
                items.insert(draw.below(items.len()), item);
            }
            Value::String(text) => text.push_str(&draw.text()),
            Value::Number(number) => *number = draw.number(),
            Value::Null | Value::Bool(_) | Value::Array(_) => *value = draw.value(),
        }
    }
}

fn remove(value: &mut Value, draw: &mut Draw<'_>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let key = fields.keys().nth(draw.below(fields.len())).cloned();
            key.map(|key| fields.shift_remove(&key));
        }
        Value::Array(items) if !items.is_empty() => drop(items.remove(draw.below(items.len()))),
        Value::Object(_)
        | Value::Array(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => *value = Value::Null,
    }
}

fn gather(value: &Value, fields: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(entries) => {
            for (key, entry) in entries {
                fields.push((key.clone(), entry.clone()));
                gather(entry, fields);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, fields)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(entries) => entries.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The value of a number, counted from the root through everything inside.
fn find<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Object(entries) => entries.values_mut().find_map(|entry| find(entry, at)),
        Value::Array(items) => items.iter_mut().find_map(|item| find(item, at)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
