//! The shapes of answers. What is optional may be null or absent, so that clients need not tell the two apart.

use serde_json::{Value, json};

/// The object that says where a session stands, `error` in its place or beside it.
pub(crate) fn step() -> Value {
    with_error(step_fields(), &["sessionId", "isComplete", "progress", "warnings"])
}

/// The same, with what somebody needs who was not there.
pub(crate) fn rehydrated() -> Value {
    let mut fields = step_fields();
    fields["plan"] = json!({
        "description": "Steps from the current one on; asked for with `intent: rehydrate`.",
        "type": ["array", "null"],
        "items": {
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "title": { "type": "string" },
                "state": { "enum": ["behind", "current", "ahead"] }
            },
            "required": ["id", "title", "state"]
        }
    });
    fields["recap"] = json!({ "description": "What was noted so far.", "type": ["string", "null"] });
    with_error(fields, &["sessionId", "isComplete", "progress", "warnings"])
}

/// An object that has `fields`, or `error`.
pub(crate) fn with_error(mut fields: Value, required: &[&str]) -> Value {
    fields["error"] = json!({
        "type": "object",
        "properties": { "code": { "type": ["string", "null"] }, "message": { "type": "string" } },
        "required": ["message"]
    });
    json!({
        "type": "object",
        "properties": fields,
        "anyOf": [{ "required": required }, { "required": ["error"] }]
    })
}

pub(crate) fn step_fields() -> Value {
    let text = json!({ "type": ["string", "null"] });
    json!({
        "sessionId": { "type": "string" },
        "stepId": text,
        "title": text,
        "prompt": text,
        "continueToken": { "type": ["string", "null"], "description": "Answers this step with `continue_workflow`." },
        "checkpointToken": { "type": ["string", "null"], "description": "Keeps notes with `checkpoint_workflow`." },
        "isComplete": { "type": "boolean" },
        "requires": requires(),
        "blocked": {
            "description": "Why the last answer was not accepted, or why the session stands still.",
            "type": ["object", "null"],
            "properties": { "reasons": { "type": "array", "items": reason() } },
            "required": ["reasons"]
        },
        "gate": {
            "description": "A person has to answer; nothing that an agent hands in does.",
            "type": ["object", "null"],
            "properties": {
                "id": { "type": "string" },
                "kind": { "enum": ["gate", "confirmation"] },
                "question": { "type": "string" },
                "accepts": { "enum": ["client", "terminal", "console", "forge"] }
            },
            "required": ["id", "kind", "question", "accepts"]
        },
        "working": {
            "description": "The engine is at work; make the same call again.",
            "type": ["object", "null"],
            "properties": { "since": { "type": "string" }, "retryAfterMs": { "type": "integer" } },
            "required": ["since", "retryAfterMs"]
        },
        "progress": {
            "type": "object",
            "properties": { "done": { "type": "integer" }, "total": { "type": "integer" } },
            "required": ["done", "total"]
        },
        "warnings": { "type": "array", "items": { "type": "string" } }
    })
}

fn reason() -> Value {
    json!({
        "type": "object",
        "properties": {
            "code": { "type": "string" },
            "message": { "type": "string" },
            "fix": { "type": "string" }
        },
        "required": ["code", "message", "fix"]
    })
}

fn requires() -> Value {
    json!({
        "description": "What the answer to this step needs.",
        "type": ["object", "null"],
        "properties": {
            "notes": { "enum": [true, false, "optional"] },
            "contextKeys": { "type": "array", "items": { "type": "string" } },
            "contracts": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "ref": { "type": "string" }, "required": { "type": "boolean" }, "schema": {}, "example": {} },
                    "required": ["ref", "schema", "example"]
                }
            },
            "assessments": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "id": { "type": "string" }, "dimensions": { "type": "array" } },
                    "required": ["id", "dimensions"]
                }
            }
        },
        "required": ["notes", "contextKeys", "contracts", "assessments"]
    })
}
