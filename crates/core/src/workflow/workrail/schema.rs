//! The JSON Schema of the WorkRail format: served to editors, and the source of every limit that is warned about.
//!
//! Shapes that may be one of several things are told apart by their type or by one key, never by trying forms out, so
//! that a fault is always told at its own place.

use serde_json::{Map, Value, json};

const STEP_ID: &str = "^[a-z0-9-]+$";
const WORKFLOW_ID: &str = "^([a-z0-9_-]+|[a-z][a-z0-9_-]+\\.[a-z][a-z0-9_-]+)$";
const SEMANTIC_VERSION: &str = "^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.+-]+)?$";

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let mut schema = object(root());
    let head = [
        ("$schema", json!("https://json-schema.org/draft/2020-12/schema")),
        ("title", json!("A WorkRail workflow")),
    ];
    let definitions = json!({
        "step": step(),
        "standardStep": object(standard_step()),
        "loopStep": object(loop_step()),
        "parallelStep": object(parallel_step()),
        "condition": object(condition()),
        "confirmation": confirmation(),
        "rule": rule(),
        "blockValue": block_value(),
        "functionDefinition": object(function_definition()),
        "outputContract": object(vec![("contractRef!", name()), ("required", flag())]),
    });
    if let Value::Object(map) = &mut schema {
        map.extend(head.map(|(key, value)| (key.to_owned(), value)));
        map.insert("$defs".to_owned(), definitions);
    }
    schema
}

/// A name that ends in `!` is required.
pub(in crate::workflow) type Table = Vec<(&'static str, Value)>;

pub(in crate::workflow) fn object(table: Table) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in table {
        let plain = name.trim_end_matches('!');
        if plain != name {
            required.push(plain);
        }
        properties.insert(plain.to_owned(), schema);
    }
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

fn root() -> Table {
    vec![
        ("$schema", name()),
        ("id!", json!({ "type": "string", "minLength": 3, "maxLength": 64, "pattern": WORKFLOW_ID })),
        ("name!", text(128)),
        ("description!", text(512)),
        ("version!", json!({ "type": "string", "pattern": SEMANTIC_VERSION })),
        ("steps!", json!({ "type": "array", "minItems": 1, "items": reference("step") })),
        ("modelTier", model_tier()),
        ("preconditions", list(text(256))),
        ("clarificationPrompts", list(text(256))),
        ("metaGuidance", list(text(256))),
        ("functionDefinitions", list(reference("functionDefinition"))),
        (
            "recommendedPreferences",
            object(vec![
                (
                    "recommendedAutonomy",
                    one_of(&["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"]),
                ),
                ("recommendedRiskPolicy", one_of(&["conservative", "balanced", "aggressive"])),
            ]),
        ),
        ("features", list(name())),
        ("assessments", list(object(assessment()))),
        ("extensionPoints", list(object(extension_point()))),
        ("references", list(object(pointer()))),
        ("about", name()),
        ("examples", list(name())),
        ("validatedAgainstSpecVersion", json!({ "type": ["number", "string"] })),
        ("metricsProfile", one_of(&["coding", "review", "research", "design", "ticket", "none"])),
    ]
}

fn assessment() -> Table {
    let levels = json!({ "type": "array", "minItems": 2, "uniqueItems": true, "items": name() });
    let dimension =
        object(vec![("id!", name()), ("purpose!", name()), ("levels!", levels), ("required", flag())]);
    vec![
        ("id!", name()),
        ("purpose!", name()),
        ("dimensions!", json!({ "type": "array", "minItems": 1, "items": dimension })),
    ]
}

fn extension_point() -> Table {
    vec![
        ("slotId!", json!({ "type": "string", "pattern": "^[a-z][a-z0-9_]*$" })),
        ("purpose!", name()),
        ("default!", name()),
        ("acceptedKinds", list(one_of(&["routine", "workflow"]))),
    ]
}

fn pointer() -> Table {
    vec![
        ("id!", name()),
        ("title!", name()),
        ("source!", name()),
        ("purpose!", name()),
        ("authoritative!", flag()),
        ("resolveFrom", one_of(&["workspace", "package"])),
    ]
}

fn function_definition() -> Table {
    let parameter = object(vec![
        ("name!", name()),
        ("type!", one_of(&["string", "number", "boolean", "array", "object"])),
        ("required", flag()),
        ("description", json!({ "type": "string" })),
        ("enum", json!({ "type": "array" })),
        ("default", json!(true)),
    ]);
    vec![
        ("name!", name()),
        ("definition!", name()),
        ("parameters", list(parameter)),
        ("scope", one_of(&["workflow", "loop", "step"])),
    ]
}

fn step() -> Value {
    let is = |word: &str| json!({ "required": ["type"], "properties": { "type": { "const": word } } });
    json!({
        "type": "object",
        "if": is("loop"),
        "then": reference("loopStep"),
        "else": {
            "if": is("parallel"),
            "then": reference("parallelStep"),
            "else": reference("standardStep"),
        },
    })
}

fn every_step() -> Table {
    vec![
        ("id!", json!({ "type": "string", "minLength": 3, "maxLength": 64, "pattern": STEP_ID })),
        ("title!", name()),
        ("requireConfirmation", reference("confirmation")),
        ("runCondition", reference("condition")),
        ("notesOptional", flag()),
    ]
}

fn standard_step() -> Table {
    let mut table = every_step();
    table.extend(vec![
        ("type", one_of(&["standard"])),
        ("prompt", text(8192)),
        ("promptBlocks", object(blocks())),
        ("agentRole", name()),
        ("modelTier", model_tier()),
        ("guidance", list(name())),
        ("askForFiles", flag()),
        ("hasValidation", flag()),
        ("validationCriteria", reference("rule")),
        ("outputContract", reference("outputContract")),
        ("assessmentRefs", list(name())),
        (
            "assessmentConsequences",
            json!({ "type": "array", "minItems": 1, "maxItems": 10, "items": consequence() }),
        ),
        ("functionDefinitions", list(reference("functionDefinition"))),
        ("functionCalls", json!({ "type": "array" })),
        ("functionReferences", list(name())),
        ("templateCall", object(vec![("templateId!", name()), ("args", json!({ "type": "object" }))])),
        (
            "promptFragments",
            list(object(vec![("id!", name()), ("when", reference("condition")), ("text!", name())])),
        ),
        ("audit", object(vec![("prompt", name()), ("rubric", list(name()))])),
        ("verification", object(vec![("command", name()), ("prompt", name())])),
    ]);
    table
}

fn consequence() -> Value {
    object(vec![
        ("when!", object(vec![("anyEqualsLevel!", name()), ("forAssessment", name())])),
        ("effect!", object(vec![("kind!", one_of(&["require_followup"])), ("guidance!", name())])),
    ])
}

fn blocks() -> Table {
    let values = json!({ "type": "array", "items": reference("blockValue") });
    vec![
        ("goal", reference("blockValue")),
        ("constraints", values.clone()),
        ("procedure", values.clone()),
        ("outputRequired", json!({ "type": "object", "additionalProperties": reference("blockValue") })),
        ("verify", values),
    ]
}

/// A text, or parts in a row.
fn block_value() -> Value {
    let part = object(vec![
        ("kind!", one_of(&["text", "ref"])),
        ("text", json!({ "type": "string" })),
        ("refId", name()),
    ]);
    json!({ "type": ["string", "array"], "minLength": 1, "minItems": 1, "items": part })
}

fn loop_step() -> Table {
    let source = object(vec![
        ("kind!", one_of(&["artifact_contract", "context_variable"])),
        ("contractRef", name()),
        ("loopId", name()),
        ("condition", reference("condition")),
    ]);
    let settings = object(vec![
        ("type!", one_of(&["while", "until", "for", "forEach"])),
        ("maxIterations!", json!({ "type": "integer", "minimum": 1, "maximum": 1000 })),
        ("condition", reference("condition")),
        ("conditionSource", source),
        ("items", name()),
        ("count", json!({ "type": ["integer", "string"], "minimum": 0 })),
        ("iterationVar", name()),
        ("itemVar", name()),
        ("indexVar", name()),
    ]);
    let mut table = every_step();
    table.extend(vec![
        ("type!", one_of(&["loop"])),
        ("loop!", settings),
        (
            "body!",
            json!({ "type": ["string", "array"], "minLength": 1, "minItems": 1, "items": reference("step") }),
        ),
        ("functionDefinitions", list(reference("functionDefinition"))),
    ]);
    table
}

fn parallel_step() -> Table {
    let delegation = object(vec![
        ("workflowId!", name()),
        ("goal", name()),
        ("runCondition", reference("condition")),
        ("contextMapping", json!({ "type": "object", "additionalProperties": { "type": "string" } })),
        ("args", json!({ "type": "object" })),
        ("modelTier", model_tier()),
        ("allowedTools", list(name())),
    ]);
    let mut table = every_step();
    table.extend(vec![
        ("type!", one_of(&["parallel"])),
        ("parallelDelegations!", json!({ "type": "array", "minItems": 1, "items": delegation })),
        ("synthesis", object(vec![("prompt", name()), ("outputContract", reference("outputContract"))])),
    ]);
    table
}

fn condition() -> Table {
    let any = json!(true);
    let several = json!({ "type": "array", "items": reference("condition") });
    vec![
        ("var", name()),
        ("equals", any.clone()),
        ("not_equals", any.clone()),
        ("gt", any.clone()),
        ("gte", any.clone()),
        ("lt", any.clone()),
        ("lte", any.clone()),
        ("in", json!({ "type": "array" })),
        ("contains", any),
        ("startsWith", json!({ "type": "string" })),
        ("endsWith", json!({ "type": "string" })),
        ("matches", json!({ "type": "string" })),
        ("and", several.clone()),
        ("or", several),
        ("not", reference("condition")),
    ]
}

/// Yes or no, a condition, or who is asked and when.
fn confirmation() -> Value {
    let by = object(vec![
        ("kind!", one_of(&["coordinator_eval", "human_approval"])),
        ("condition", reference("condition")),
    ]);
    json!({
        "type": ["boolean", "object"],
        "if": { "type": "object" },
        "then": { "if": { "required": ["kind"] }, "then": by, "else": reference("condition") },
    })
}

/// One rule, a list of rules, or rules combined.
fn rule() -> Value {
    let one = object(vec![
        ("type", one_of(&["contains", "regex", "length", "schema"])),
        ("message", name()),
        ("value", json!({ "type": "string" })),
        ("pattern", json!({ "type": "string" })),
        ("flags", json!({ "type": "string" })),
        ("min", json!({ "type": "integer", "minimum": 0 })),
        ("max", json!({ "type": "integer", "minimum": 0 })),
        ("schema", json!({ "type": ["object", "boolean"] })),
        ("condition", reference("condition")),
        ("and", list(reference("rule"))),
        ("or", list(reference("rule"))),
        ("not", reference("rule")),
    ]);
    json!({
        "type": ["object", "array"],
        "items": reference("rule"),
        "if": { "type": "object" },
        "then": one,
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn text(most: u32) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most })
}

fn name() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn list(of: impl Into<Value>) -> Value {
    json!({ "type": "array", "items": of.into() })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn model_tier() -> Value {
    one_of(&["lightweight", "mid", "heavy"])
}
