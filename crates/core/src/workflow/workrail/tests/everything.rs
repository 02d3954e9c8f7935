//! One file with every field there is.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{compiled, messages, outcome};
use crate::workflow::features;

/// Keys whose words become something else in the compiled form: `forEach` is a list to go through, `mid` a tier, a
/// reference its text, a feature its lines. The tables in `fields` hold these to what they become.
const TRANSLATED: &[&str] = &[
    "type",
    "kind",
    "modelTier",
    "refId",
    "features",
    "templateId",
    "slotId",
    "scope",
    "$schema",
    "resolveFrom",
];

/// Texts of a file that are not in its compiled form, with their places.
pub(super) fn lost_texts(root: &Value, compiled: &Value) -> Vec<(String, String)> {
    let mut kept = BTreeSet::new();
    gather(compiled, &mut kept);
    let mut lost = Vec::new();
    search(root, "", &mut |path, text| {
        if !kept.iter().any(|known| known.contains(text)) {
            lost.push((path.to_owned(), text.to_owned()));
        }
    });
    lost
}

fn gather(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            texts.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(map) => map.iter().for_each(|(key, item)| {
            texts.insert(key.clone());
            gather(item, texts);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn search(value: &Value, path: &str, found: &mut impl FnMut(&str, &str)) {
    match value {
        // Slots are filled before anything else is read.
        Value::String(text) => found(path, text.split("{{wr.bindings.").next().unwrap_or_default()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &format!("{path}/{index}"), found);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                // The id of a fragment is for people who talk about the file.
                let is_label = key == "id" && path.contains("/promptFragments/");
                if !is_label && !TRANSLATED.contains(&key.as_str()) {
                    search(item, &format!("{path}/{key}"), found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn condition() -> Value {
    json!({ "and": [
        { "var": "a", "equals": "e1", "not_equals": "e2", "gt": 1, "gte": 2, "lt": 3, "lte": 4 },
        { "or": [{ "var": "b", "in": ["i1", "i2"], "contains": "c1" }] },
        { "not": { "var": "c.d", "startsWith": "s1", "endsWith": "n1", "matches": "^m1$" } },
    ] })
}

fn standard_steps() -> Vec<Value> {
    let function = json!({
        "name": "helper", "definition": "does a thing", "scope": "step",
        "parameters": [{ "name": "p1", "type": "string", "required": true, "description": "what for", "enum": ["x"], "default": "x" }],
    });
    vec![
        json!({
            "id": "plain-step", "type": "standard", "title": "Plain {{goal}}", "prompt": "Plain words for {{wr.bindings.bound_slot}}.",
            "agentRole": "a careful reader", "modelTier": "lightweight", "guidance": ["be brief"], "askForFiles": true,
            "hasValidation": true, "requireConfirmation": true, "runCondition": condition(), "notesOptional": true,
            "validationCriteria": [
                { "type": "contains", "value": "needle", "message": "say needle", "condition": { "var": "strict" } },
                { "and": [{ "type": "regex", "pattern": "^ok", "flags": "i", "message": "begin with ok" }],
                  "or": [{ "type": "length", "min": 3, "max": 900, "message": "neither short nor long" }],
                  "not": { "type": "schema", "schema": { "type": "number" }, "message": "not a number" } },
            ],
            "outputContract": { "contractRef": "wr.contracts.review_verdict", "required": false },
            "assessmentRefs": ["ready"],
            "assessmentConsequences": [{ "when": { "anyEqualsLevel": "low", "forAssessment": "ready" },
                "effect": { "kind": "require_followup", "guidance": "look again" } }],
            "functionDefinitions": [function], "functionReferences": ["shared"], "functionCalls": [{ "call": "helper(x)" }],
            "promptFragments": [{ "id": "frag-1", "when": { "var": "deep" }, "text": "Go deep." }],
            "audit": { "prompt": "audit it", "rubric": ["is it true"] },
            "verification": { "command": "make test", "prompt": "look at the output" },
        }),
        json!({
            "id": "block-step", "title": "Blocks", "requireConfirmation": { "kind": "coordinator_eval", "condition": { "var": "risky" } },
            "promptBlocks": {
                "goal": "the goal", "constraints": ["never lie", [{ "kind": "text", "text": "part one" }, { "kind": "ref", "refId": "wr.refs.notes_first_durability" }]],
                "procedure": ["first this"], "outputRequired": { "resultKey": "what it holds" }, "verify": ["it holds"],
            },
        }),
        json!({ "id": "call-step", "title": "Call", "templateCall": { "templateId": "wr.templates.routine.sample", "args": { "target": "the barn" } } }),
    ]
}

fn loops() -> Vec<Value> {
    let body = |id: &str| json!([{ "id": id, "title": "Inside", "prompt": "Inside words." }]);
    vec![
        json!({
            "id": "while-loop", "type": "loop", "title": "While", "requireConfirmation": { "var": "sure", "equals": "no" },
            "runCondition": { "var": "again" }, "notesOptional": true,
            "functionDefinitions": [{ "name": "in_loop", "definition": "for the loop", "scope": "loop" }],
            "loop": { "type": "while", "maxIterations": 5, "iterationVar": "turn",
                "conditionSource": { "kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "outer_loop" } },
            "body": [{ "id": "decide-it", "title": "Decide", "prompt": "Decide.", "functionReferences": ["in_loop"],
                "outputContract": { "contractRef": "wr.contracts.loop_control" } }],
        }),
        json!({ "id": "until-loop", "type": "loop", "title": "Until", "body": body("until-body"),
            "loop": { "type": "until", "maxIterations": 6, "conditionSource": { "kind": "context_variable", "condition": { "var": "found" } } } }),
        json!({ "id": "plain-until", "type": "loop", "title": "Until", "body": body("plain-body"),
            "loop": { "type": "until", "maxIterations": 7, "condition": { "var": "done" } } }),
        json!({ "id": "for-loop", "type": "loop", "title": "For", "body": body("for-body"),
            "loop": { "type": "for", "maxIterations": 8, "count": "tries" } }),
        json!({ "id": "each-loop", "type": "loop", "title": "Each", "body": "named-body",
            "loop": { "type": "forEach", "maxIterations": 9, "items": "slices", "itemVar": "slice", "indexVar": "number" } }),
        json!({ "id": "named-body", "title": "Named", "prompt": "Named words." }),
    ]
}

fn parallel() -> Value {
    json!({
        "id": "side-by-side", "type": "parallel", "title": "Side by side", "requireConfirmation": false,
        "runCondition": { "var": "many" }, "notesOptional": true,
        "parallelDelegations": [{
            "workflowId": "wr.routine-sample", "goal": "a goal of its own", "runCondition": { "var": "wanted" },
            "contextMapping": { "childVar": "ourVar" }, "args": { "deliverable": "a file" }, "modelTier": "heavy",
            "allowedTools": ["read_only"],
        }],
        "synthesis": { "prompt": "bring it together", "outputContract": { "contractRef": "wr.contracts.gate_verdict" } },
    })
}

pub(super) fn everything() -> Value {
    let mut steps = standard_steps();
    steps.extend(loops());
    steps.push(parallel());
    json!({
        "$schema": "a-schema.json", "id": "wr.everything", "name": "Everything", "description": "All fields.", "version": "1.2.3-rc.1",
        "modelTier": "mid", "preconditions": ["a precondition"], "clarificationPrompts": ["a question"], "metaGuidance": ["a guiding line"],
        "functionDefinitions": [{ "name": "shared", "definition": "for all", "scope": "workflow" }],
        "recommendedPreferences": { "recommendedAutonomy": "full_auto_never_stop", "recommendedRiskPolicy": "balanced" },
        "features": ["wr.features.memory_context", "wr.features.capabilities", "wr.features.subagent_guidance"],
        "assessments": [{ "id": "ready", "purpose": "is it ready", "dimensions": [
            { "id": "confidence", "purpose": "how sure", "levels": ["low", "high"], "required": false }] }],
        "extensionPoints": [{ "slotId": "bound_slot", "purpose": "a place to bind", "default": "wr.routine-other", "acceptedKinds": ["routine", "workflow"] }],
        "references": [{ "id": "spec", "title": "The specification", "source": "docs/spec.md", "purpose": "what holds", "authoritative": true, "resolveFrom": "package" }],
        "about": "about it", "examples": ["an example"], "validatedAgainstSpecVersion": 3, "metricsProfile": "research",
        "steps": steps,
    })
}

#[test]
fn a_file_with_every_field_compiles_without_a_word() {
    assert_eq!(messages(&outcome(&everything())), Vec::<String>::new());
}

#[test]
fn no_text_of_any_field_is_lost() {
    assert_eq!(lost_texts(&everything(), &compiled(&everything())), []);
}

#[test]
fn the_file_with_every_field_fits_the_schema_and_uses_each_of_its_properties() {
    let schema = super::super::schema::schema();
    let contract =
        crate::workflow::contract::Contract { kind: None, schema: schema.clone(), example: Value::Null };
    assert_eq!(contract.check(&everything()), Ok(()));

    let mut used = BTreeSet::new();
    keys_of(&everything(), &mut used);
    let mut declared = BTreeSet::new();
    properties_of(&schema, &mut declared);
    assert_eq!(declared.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new());
}

fn keys_of(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys_of(item, keys)),
        Value::Object(map) => map.iter().for_each(|(key, item)| {
            keys.insert(key.clone());
            keys_of(item, keys);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn properties_of(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| properties_of(item, names)),
        Value::Object(map) => map.iter().for_each(|(key, item)| {
            if key == "properties" {
                names.extend(item.as_object().unwrap().keys().cloned());
            }
            properties_of(item, names);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn features_add_their_lines_to_every_step_with_blocks_and_to_no_other() {
    let workflow = compiled(&everything());
    let blocks = &workflow["steps"][1]["kind"]["body"]["blocks"];
    for feature in features::FEATURES {
        for (key, lines) in [
            ("constraints", feature.constraints),
            ("procedure", feature.procedure),
            ("verify", feature.verify),
        ] {
            for line in lines {
                assert!(blocks[key].as_array().unwrap().contains(&json!(line)), "{line}");
            }
        }
    }
    assert_eq!(
        blocks["constraints"][1],
        json!(format!("part one {}", features::text("wr.refs.notes_first_durability").unwrap()))
    );
    assert_eq!(workflow["steps"][0]["kind"]["body"]["text"], "Plain words for wr.routine-sample.");
}
