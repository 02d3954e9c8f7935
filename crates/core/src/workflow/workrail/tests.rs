//! What the front end makes of files: real ones, one with every field, and broken ones.

pub(crate) mod corpus;
mod everything;
mod fields;
mod hostile;
mod shapes;

use serde_json::{Value, json};

use crate::workflow::Workflow;
use crate::workflow::compile::{Source, Sources, Syntax, compile};
use crate::workflow::diagnostic::Outcome;

pub(super) fn source(name: &str, text: String) -> Source {
    Source { name: name.to_owned(), text, syntax: Syntax::Json }
}

/// Compiles a file with the routine `wr.routine-sample` at hand.
pub(super) fn outcome(file: &Value) -> Outcome<Workflow> {
    let mut sources = Sources::default();
    let routine = json!({
        "id": "wr.routine-sample", "name": "Sample", "description": "A routine.", "version": "1.0.0",
        "steps": [
            { "id": "look-around", "title": "Look", "prompt": "Look at {target}." },
            { "id": "write-down", "title": "Write", "prompt": "Write {target}." },
        ],
    });
    sources.library.insert("wr.routine-sample".to_owned(), source("sample.json", routine.to_string()));
    sources.bindings.insert("bound_slot".to_owned(), "wr.routine-sample".to_owned());
    compile(&source("test.json", file.to_string()), &sources)
}

pub(super) fn messages(outcome: &Outcome<Workflow>) -> Vec<String> {
    outcome.diagnostics.iter().map(|it| it.message.clone()).collect()
}

/// The compiled form as JSON, of a file without errors.
pub(super) fn compiled(file: &Value) -> Value {
    let outcome = outcome(file);
    let workflow = outcome.value.unwrap_or_else(|| panic!("{file:#}\n{:#?}", outcome.diagnostics));
    serde_json::to_value(workflow).unwrap()
}

/// A file with these steps.
pub(super) fn file(steps: Value) -> Value {
    let mut file =
        json!({ "id": "test-file", "name": "Test", "description": "For tests.", "version": "1.0.0" });
    file["steps"] = steps;
    file
}

/// A file with one step that has these fields too.
pub(super) fn file_with_step(more: &Value) -> Value {
    file(json!([merged(json!({ "id": "one", "title": "One", "prompt": "Do it." }), more)]))
}

/// A file with one loop whose settings are these.
pub(super) fn file_with_loop(settings: &Value) -> Value {
    let body = json!([{ "id": "inside", "title": "Inside", "prompt": "Go on." }]);
    file(json!([{ "id": "round", "type": "loop", "title": "Round", "loop": settings, "body": body }]))
}

pub(super) fn merged(mut base: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        base[key] = value.clone();
    }
    base
}
