//! The JSON Schema of the native format: served to editors. A test keeps it in step with the reader.
//!
//! It says which keys there are and of what shape. What needs a look at the whole file is the compiler's.

use serde_json::{Value, json};

use super::CATEGORIES;
use crate::policy::Policy;
use crate::workflow::workrail::schema::{Table, object};
use crate::workflow::{MOST_ITERATIONS, MOST_STEPS};

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let mut schema = object(root());
    let definitions = json!({
        "step": step(),
        "steps": { "type": "array", "minItems": 1, "maxItems": MOST_STEPS, "items": { "$ref": "#/$defs/step" } },
        "condition": condition(),
        "budget": object(vec![
            ("tokens", unit("400k")),
            ("time", unit("45m")),
            ("money", unit("1.50usd")),
        ]),
        "type": var_type(),
        "prompt": prompt(),
        "rule": rule(),
        "run": object(run()),
        "child": object(child()),
        "output": { "type": ["string", "object"], "description": "A contract's name, or a JSON Schema." },
    });
    if let Value::Object(map) = &mut schema {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".to_owned(), json!("A Longhaul workflow"));
        map.insert("$defs".to_owned(), definitions);
    }
    schema
}

fn root() -> Table {
    vec![
        ("$schema", text()),
        ("longhaul!", json!({ "const": 1 })),
        ("id!", json!({ "type": "string", "pattern": "^[a-z0-9-]+(\\.[a-z0-9-]+)*$", "maxLength": 128 })),
        ("name!", text()),
        ("version!", json!({ "type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+([-+].+)?$" })),
        ("category", json!({ "enum": CATEGORIES })),
        ("about", text()),
        ("vars", json!({ "type": "object", "additionalProperties": var() })),
        ("guidance", texts()),
        ("contracts", json!({ "type": "object", "additionalProperties": { "type": ["object", "boolean"] } })),
        ("systemPrompt", text()),
        ("model", model()),
        ("budget", reference("budget")),
        (
            "references",
            list(object(vec![
                ("id!", text()),
                ("source!", text()),
                ("title", text()),
                ("purpose", text()),
                ("authoritative", flag()),
                ("resolveFrom", json!({ "enum": ["workspace", "package"] })),
            ])),
        ),
        (
            "slots",
            list(object(vec![
                ("id!", text()),
                ("default!", text()),
                ("purpose", text()),
                ("acceptedKinds", list(text())),
            ])),
        ),
        ("features", list(text())),
        ("steps!", reference("steps")),
    ]
}

fn produces() -> Value {
    json!({ "type": ["object", "array"], "items": text(), "additionalProperties": reference("type") })
}

fn step() -> Value {
    let mut table = common();
    table.extend([
        ("prompt", reference("prompt")),
        ("fragments", list(object(vec![("when", reference("condition")), ("text!", text())]))),
        ("produces", produces()),
        ("notes", json!({ "enum": ["required", "optional", "none"] })),
        ("output", reference("output")),
        ("validate", list(reference("rule"))),
        ("use", text()),
        ("with", json!({ "type": "object" })),
        ("loop", object(repeat())),
        ("todo", text()),
        ("may_stop", flag()),
        ("as", text()),
        ("index", text()),
        ("max", iterations()),
        ("steps", reference("steps")),
        ("assess", object(assess())),
        ("run", reference("run")),
        ("into", text()),
        ("rerun", flag()),
        (
            "gather",
            object(vec![("kind!", text()), ("from", texts()), ("into", text()), ("optional", flag())]),
        ),
        ("gate", object(gate())),
        (
            "parallel",
            json!({
                "type": ["array", "object"],
                "items": reference("child"),
                "if": { "type": "object" },
                "then": reference("child"),
            }),
        ),
        ("join", json!({ "enum": ["all", "any"] })),
        ("on_failure", json!({ "enum": ["abort", "continue"] })),
        ("synthesis", object(synthesis())),
        ("spawn", reference("child")),
        ("decide", decide()),
        (
            "deliver",
            object(vec![
                ("commit", any()),
                ("branch", any()),
                ("pull_request", any()),
                ("comment", any()),
                ("merge", any()),
                ("close", any()),
                ("into", text()),
            ]),
        ),
    ]);
    object(table)
}

/// What makes one result of the children's.
fn synthesis() -> Table {
    vec![
        ("prompt!", reference("prompt")),
        ("output", reference("output")),
        ("notes", json!({ "enum": ["required", "optional", "none"] })),
        ("fragments", list(json!({ "type": "object" }))),
        ("produces", json!({ "type": ["object", "array"] })),
        ("validate", list(reference("rule"))),
    ]
}

/// What any step may have.
fn common() -> Table {
    vec![
        ("id!", json!({ "type": "string", "pattern": "^[a-z0-9_-]+$", "maxLength": 64 })),
        ("title", text()),
        ("when", reference("condition")),
        (
            "jumpIf",
            object(vec![
                ("when!", reference("condition")),
                ("to!", text()),
                ("maxJumps!", json!({ "type": "integer", "minimum": 1, "maximum": 1000 })),
            ]),
        ),
        (
            "confirm",
            json!({
                "type": ["boolean", "object"],
                "if": { "type": "object" },
                "then": object(vec![
                    ("by", json!({ "enum": ["person", "coordinator"] })),
                    ("accepts", channel()),
                    ("when", reference("condition")),
                ]),
            }),
        ),
        ("role", text()),
        ("guidance", texts()),
        ("model", model()),
        ("budget", reference("budget")),
        ("systemPrompt", text()),
        ("attempts", json!({ "type": "integer", "minimum": 1, "maximum": 1000 })),
        ("references", texts()),
        ("requires", list(text())),
    ]
}

fn condition() -> Value {
    let parts = list(reference("condition"));
    object(vec![
        ("var", text()),
        ("equals", any()),
        ("not", any()),
        ("gt", json!({ "type": ["number", "string"] })),
        ("gte", json!({ "type": ["number", "string"] })),
        ("lt", json!({ "type": ["number", "string"] })),
        ("lte", json!({ "type": ["number", "string"] })),
        ("in", json!({ "type": "array" })),
        ("contains", any()),
        ("startsWith", text()),
        ("endsWith", text()),
        ("matches", text()),
        ("all", parts.clone()),
        ("any", parts),
    ])
}

fn var() -> Value {
    json!({
        "type": ["string", "object"],
        "if": { "type": "object" },
        "then": object(vec![
            ("type", reference("type")),
            ("enum", json!({ "type": "array", "minItems": 1 })),
            ("required", flag()),
            ("default", any()),
            ("about", text()),
        ]),
        "else": reference("type"),
    })
}

fn var_type() -> Value {
    json!({
        "type": ["string", "object"],
        "if": { "type": "object" },
        "then": object(vec![("type", text()), ("enum", json!({ "type": "array", "minItems": 1 }))]),
        "else": { "enum": ["any", "string", "number", "integer", "boolean", "array", "object"] },
    })
}

fn prompt() -> Value {
    json!({
        "type": ["string", "object"],
        "if": { "type": "object" },
        "then": object(vec![
            ("goal", text()),
            ("constraints", texts()),
            ("procedure", texts()),
            ("outputRequired", json!({ "type": "object", "additionalProperties": text() })),
            ("verify", texts()),
        ]),
    })
}

fn rule() -> Value {
    object(vec![
        ("contains", text()),
        ("matches", text()),
        ("flags", text()),
        ("length", object(vec![("min", count()), ("max", count())])),
        ("schema", json!({ "type": ["object", "boolean"] })),
        ("message", text()),
        ("when", reference("condition")),
        ("all", list(reference("rule"))),
        ("any", list(reference("rule"))),
        ("not", reference("rule")),
    ])
}

fn repeat() -> Table {
    vec![
        ("while", reference("condition")),
        ("until", reference("condition")),
        ("for", json!({ "type": ["integer", "string"], "minimum": 0, "maximum": MOST_ITERATIONS })),
        ("forEach", text()),
        ("control", json!({ "const": "artifact" })),
        ("as", text()),
        ("index", text()),
        ("iteration", text()),
        ("max", iterations()),
        ("on_max", json!({ "enum": ["continue", "park", "fail"] })),
    ]
}

fn assess() -> Table {
    let dimension = json!({
        "type": ["array", "object"],
        "items": text(),
        "minItems": 2,
        "if": { "type": "object" },
        "then": object(vec![("levels!", list(text())), ("purpose", text()), ("required", flag())]),
    });
    vec![
        ("purpose", text()),
        ("dimensions!", json!({ "type": "object", "minProperties": 1, "additionalProperties": dimension })),
        (
            "rules",
            list(object(vec![
                (
                    "when!",
                    json!({ "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": text() }),
                ),
                ("then!", object(vec![("followUp", text()), ("redo", list(text()))])),
            ])),
        ),
    ]
}

fn run() -> Table {
    vec![
        ("command", json!({ "type": "array", "minItems": 1, "items": { "type": ["string", "number"] } })),
        ("checks", texts()),
        ("on", json!({ "enum": ["checkout", "merge"] })),
        ("timeout", unit("10m")),
        ("dir", text()),
        ("network", json!({ "enum": ["none", "allow-list", "open"] })),
        ("into", text()),
        ("rerun", flag()),
    ]
}

fn gate() -> Table {
    vec![
        ("by!", json!({ "enum": ["person", "coordinator", "check"] })),
        ("accepts", channel()),
        ("question", text()),
        ("timeout", unit("7d")),
        ("accept", list(object(vec![("when!", reference("condition"))]))),
        ("else", json!({ "const": "person" })),
        ("run", reference("run")),
    ]
}

fn decide() -> Value {
    let policies: Vec<&str> = Policy::ALL.iter().map(|policy| policy.word()).collect();
    object(vec![
        ("policy!", json!({ "enum": policies })),
        ("with", json!({ "type": "object" })),
        ("into", text()),
    ])
}

fn child() -> Table {
    vec![
        ("workflow!", text()),
        ("goal", text()),
        ("when", reference("condition")),
        (
            "brief",
            json!({
                "type": ["string", "object"],
                "if": { "type": "object" },
                "then": object(vec![("mode!", json!({ "enum": ["inherit", "blank", "custom"] })), ("include", list(text()))]),
                "else": { "enum": ["inherit", "blank"] },
            }),
        ),
        ("with", json!({ "type": "object" })),
        ("model", model()),
        ("allowedTools", list(text())),
        ("files", json!({ "enum": ["read", "write"] })),
        ("into", text()),
        ("forEach", text()),
        ("as", text()),
        ("max", iterations()),
    ]
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

/// A list of texts, or one text.
fn texts() -> Value {
    json!({ "type": ["array", "string"], "items": text() })
}

fn list(items: Value) -> Value {
    Value::Object([("type".to_owned(), json!("array")), ("items".to_owned(), items)].into_iter().collect())
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn any() -> Value {
    json!(true)
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn iterations() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": MOST_ITERATIONS })
}

fn model() -> Value {
    json!({ "enum": ["light", "standard", "heavy"] })
}

fn channel() -> Value {
    json!({ "enum": ["client", "terminal", "console", "forge"] })
}

/// A number with its unit.
fn unit(example: &str) -> Value {
    json!({ "type": ["string", "integer"], "examples": [example] })
}
