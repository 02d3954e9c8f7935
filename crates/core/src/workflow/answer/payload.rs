//! Reading what a caller sent, under any of the names that callers use.

use serde_json::{Map, Value};

use super::super::scope::type_in_words;
use super::super::suggest;
use super::limits::{judge_artifact, judge_notes, judge_vars};
use super::unclear::{is_json_text, json_text};
use super::{Answer, Reason};

const FIELDS: [&str; 6] = ["notes", "vars", "artifacts", "context", "notesMarkdown", "output"];
const OUTPUT_FIELDS: [&str; 3] = ["notesMarkdown", "notes", "artifacts"];

impl Answer {
    /// Reads what a caller sent. Every problem is told at once.
    pub fn from_payload(payload: &Value) -> Result<Self, Vec<Reason>> {
        let mut reader = Reader::default();
        match payload {
            Value::Null => {}
            Value::Object(fields) => reader.read_fields(fields),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                reader.wrong_type("the answer", "an object with `notes`, `vars` and `artifacts`", payload);
            }
        }
        let Reader { answer, mut reasons, .. } = reader;
        if let Some(notes) = &answer.notes {
            judge_notes(notes, &mut reasons);
        }
        judge_vars(&answer.vars, &mut reasons);
        for (index, artifact) in answer.artifacts.iter().enumerate() {
            judge_artifact(index, artifact, &mut reasons);
        }
        if reasons.is_empty() { Ok(answer) } else { Err(reasons) }
    }

    /// The one form of an answer, whatever names it was sent under. This is what is hashed.
    pub fn to_payload(&self) -> Value {
        let mut payload = Map::new();
        if let Some(notes) = &self.notes {
            payload.insert("notes".to_owned(), Value::from(notes.as_str()));
        }
        if !self.vars.is_empty() {
            payload.insert("vars".to_owned(), Value::Object(self.vars.clone()));
        }
        if !self.artifacts.is_empty() {
            payload.insert("artifacts".to_owned(), Value::Array(self.artifacts.clone()));
        }
        Value::Object(payload)
    }
}

#[derive(Default)]
struct Reader {
    answer: Answer,
    /// The field that each part came in, to tell when it came twice.
    notes_from: Option<&'static str>,
    vars_from: Option<&'static str>,
    artifacts_from: Option<&'static str>,
    reasons: Vec<Reason>,
}

impl Reader {
    fn read_fields(&mut self, fields: &Map<String, Value>) {
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            match name.as_str() {
                "notes" => self.read_notes("notes", value),
                "notesMarkdown" => self.read_notes("notesMarkdown", value),
                "vars" => self.read_vars("vars", value),
                "context" => self.read_vars("context", value),
                "artifacts" => self.read_artifacts("artifacts", value),
                "output" => self.read_output(value),
                _ => self.unknown_field(name, &FIELDS),
            }
        }
        for name in fields.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name) {
            if !FIELDS.contains(&name.as_str()) {
                self.unknown_field(name, &FIELDS);
            }
        }
    }

    fn read_output(&mut self, output: &Value) {
        let Value::Object(fields) = output else {
            return self.wrong_type("`output`", "an object with `notesMarkdown` and `artifacts`", output);
        };
        for (name, value) in fields {
            match name.as_str() {
                "notesMarkdown" | "notes" | "artifacts" if value.is_null() => {}
                "notesMarkdown" => self.read_notes("output.notesMarkdown", value),
                "notes" => self.read_notes("output.notes", value),
                "artifacts" => self.read_artifacts("output.artifacts", value),
                _ => self.unknown_field(&format!("output.{name}"), &OUTPUT_FIELDS),
            }
        }
    }

    fn read_notes(&mut self, field: &'static str, value: &Value) {
        let Value::String(notes) = value else {
            return self.wrong_type(&format!("`{field}`"), "text", value);
        };
        if let Some(first) = self.notes_from.replace(field) {
            return self.twice(first, field);
        }
        self.answer.notes = Some(notes.clone());
    }

    fn read_vars(&mut self, field: &'static str, value: &Value) {
        let Value::Object(vars) = value else {
            return self.wrong_type(&format!("`{field}`"), "an object of names and values", value);
        };
        if let Some(first) = self.vars_from.replace(field) {
            return self.twice(first, field);
        }
        self.answer.vars.clone_from(vars);
    }

    fn read_artifacts(&mut self, field: &'static str, value: &Value) {
        let Value::Array(artifacts) = value else {
            return self.wrong_type(&format!("`{field}`"), "a list, even of one", value);
        };
        if let Some(first) = self.artifacts_from.replace(field) {
            return self.twice(first, field);
        }
        self.answer.artifacts.clone_from(artifacts);
    }

    fn unknown_field(&mut self, name: &str, known: &'static [&'static str]) {
        let last = name.rsplit('.').next().unwrap_or(name);
        let fix = suggest::or_known(last, known.iter().copied());
        self.reasons.push(Reason::new("unknown_field", format!("`{name}` is not a field of an answer"), fix));
    }

    fn twice(&mut self, first: &str, second: &str) {
        let message = format!("`{first}` and `{second}` say the same thing twice");
        self.reasons.push(Reason::new("given_twice", message, format!("leave out `{second}`")));
    }

    fn wrong_type(&mut self, what: &str, wanted: &str, found: &Value) {
        if is_json_text(found) {
            return self.reasons.push(json_text(what));
        }
        let message = format!("{what} is {}, not {wanted}", type_in_words(found));
        self.reasons.push(Reason::new("wrong_type", message, format!("hand in {wanted}")));
    }
}
