//! Field by field: what stands in the file, and what it is in the compiled form.

use serde_json::{Value, json};

use super::{compiled, file, file_with_loop, file_with_step, merged};

/// What is to be found at a place of the compiled form.
type Row = (Value, &'static str, Value);

fn hold(rows: Vec<Row>) {
    for (file, pointer, expected) in rows {
        let workflow = compiled(&file);
        assert_eq!(workflow.pointer(pointer).unwrap_or(&Value::Null), &expected, "{pointer} of {file}");
    }
}

fn root(more: impl Into<Value>) -> Value {
    merged(file_with_step(&json!({})), &more.into())
}

fn step(more: impl Into<Value>) -> Value {
    file_with_step(&more.into())
}

#[test]
fn fields_of_the_root() {
    hold(vec![
        (root(json!({})), "/format", json!("work_rail")),
        (root(json!({})), "/vars", json!("open")),
        (root(json!({ "id": "wr.some-id" })), "/id", json!("wr.some-id")),
        (root(json!({ "name": "N" })), "/name", json!("N")),
        (root(json!({ "version": "3.2.1" })), "/version", json!("3.2.1")),
        (root(json!({ "description": "D" })), "/catalog/description", json!("D")),
        (root(json!({ "about": "A" })), "/about", json!("A")),
        (root(json!({ "examples": ["E"] })), "/catalog/examples", json!(["E"])),
        (root(json!({ "metricsProfile": "ticket" })), "/catalog/metrics_profile", json!("ticket")),
        (root(json!({ "validatedAgainstSpecVersion": 3 })), "/catalog/validated_against", json!("3")),
        (root(json!({ "validatedAgainstSpecVersion": "3.1" })), "/catalog/validated_against", json!("3.1")),
        (root(json!({ "modelTier": "lightweight" })), "/model", json!("light")),
        (root(json!({ "modelTier": "mid" })), "/model", json!("standard")),
        (root(json!({ "modelTier": "heavy" })), "/model", json!("heavy")),
        (root(json!({ "preconditions": ["P"] })), "/preconditions", json!(["P"])),
        (root(json!({ "clarificationPrompts": ["C"] })), "/clarifications", json!(["C"])),
        (root(json!({ "metaGuidance": ["M"] })), "/guidance", json!(["M"])),
        (
            root(
                json!({ "recommendedPreferences": { "recommendedAutonomy": "guided", "recommendedRiskPolicy": "aggressive" } }),
            ),
            "/preferences",
            json!({ "autonomy": "guided", "risk_policy": "aggressive" }),
        ),
        (
            root(
                json!({ "references": [{ "id": "r", "title": "T", "source": "s", "purpose": "p", "authoritative": true }] }),
            ),
            "/references/0",
            json!({ "id": "r", "title": "T", "source": "s", "purpose": "p", "authoritative": true, "resolve_from": "workspace" }),
        ),
        (
            root(
                json!({ "extensionPoints": [{ "slotId": "s", "purpose": "p", "default": "d", "acceptedKinds": ["routine"] }] }),
            ),
            "/catalog/slots/0",
            json!({ "id": "s", "purpose": "p", "default": "d", "accepts": ["routine"] }),
        ),
    ]);
}

#[test]
fn fields_of_a_standard_step() {
    hold(vec![
        (step(json!({})), "/steps/0/id", json!("one")),
        (step(json!({ "title": "T {{x}}" })), "/steps/0/title", json!("T {{x}}")),
        (step(json!({})), "/steps/0/attempts", json!(10)),
        (step(json!({ "prompt": "P {{x}}" })), "/steps/0/kind/body/text", json!("P {{x}}")),
        (step(json!({ "agentRole": "R" })), "/steps/0/role", json!("R")),
        (step(json!({ "modelTier": "heavy" })), "/steps/0/model", json!("heavy")),
        (step(json!({ "guidance": ["G"] })), "/steps/0/guidance", json!(["G"])),
        (step(json!({ "askForFiles": true })), "/steps/0/kind/ask_for_files", json!(true)),
        (step(json!({})), "/steps/0/kind/notes", json!("required")),
        (step(json!({ "notesOptional": true })), "/steps/0/kind/notes", json!("optional")),
        (
            step(json!({ "outputContract": { "contractRef": "wr.contracts.coding_handoff" } })),
            "/steps/0/kind/notes",
            json!("optional"),
        ),
        (
            step(
                json!({ "outputContract": { "contractRef": "wr.contracts.coding_handoff", "required": false } }),
            ),
            "/steps/0/kind/notes",
            json!("required"),
        ),
        (
            step(json!({ "outputContract": { "contractRef": "wr.contracts.coding_handoff" } })),
            "/steps/0/kind/outputs",
            json!([{ "contract": "wr.contracts.coding_handoff", "required": true }]),
        ),
        (
            step(json!({ "outputContract": { "contractRef": "wr.contracts.coding_handoff" } })),
            "/contracts/wr.contracts.coding_handoff/kind",
            json!("wr.coding_handoff"),
        ),
        (step(json!({ "runCondition": { "var": "x" } })), "/steps/0/when/var/path", json!("x")),
        (
            step(
                json!({ "promptFragments": [{ "id": "f", "when": { "var": "x" }, "text": "T" }, { "id": "g", "text": "U" }] }),
            ),
            "/steps/0/kind/fragments",
            json!([{ "when": { "var": { "path": "x", "tests": [] } }, "text": "T" }, { "text": "U" }]),
        ),
        (step(json!({ "functionCalls": [{ "f": 1 }] })), "/steps/0/kind/function_calls", json!([{ "f": 1 }])),
        (
            step(json!({ "audit": { "prompt": "A", "rubric": ["R"] } })),
            "/steps/0/kind/audit",
            json!({ "prompt": "A", "rubric": ["R"] }),
        ),
        (
            step(json!({ "verification": { "command": "C", "prompt": "P" } })),
            "/steps/0/kind/verification",
            json!({ "command": "C", "prompt": "P" }),
        ),
    ]);
}

#[test]
fn blocks_keep_their_order() {
    let blocks = json!({ "goal": "G", "constraints": ["C"], "procedure": ["P"], "outputRequired": { "b": "2", "a": "1" }, "verify": ["V"] });
    let file = file(json!([{ "id": "one", "title": "One", "promptBlocks": blocks }]));
    let expected = json!({ "goal": "G", "constraints": ["C"], "procedure": ["P"], "output_required": [["b", "2"], ["a", "1"]], "verify": ["V"] });
    hold(vec![(file, "/steps/0/kind/body/blocks", expected)]);
}

#[test]
fn confirmations_in_all_shapes() {
    let confirm = |value: Value| step(json!({ "requireConfirmation": value }));
    let var = json!({ "var": { "path": "x", "tests": [] } });
    hold(vec![
        (confirm(json!(false)), "/steps/0/confirm", Value::Null),
        (confirm(json!(true)), "/steps/0/confirm", json!({ "by": "person" })),
        (confirm(json!({ "var": "x" })), "/steps/0/confirm", json!({ "by": "person", "when": var })),
        (confirm(json!({ "kind": "human_approval" })), "/steps/0/confirm", json!({ "by": "person" })),
        (
            confirm(json!({ "kind": "coordinator_eval", "condition": { "var": "x" } })),
            "/steps/0/confirm",
            json!({ "by": "coordinator", "when": var }),
        ),
    ]);
}

#[test]
fn conditions_in_all_shapes() {
    let when = |value: Value| step(json!({ "runCondition": value }));
    let tests = |value: Value| (when(value), "/steps/0/when/var/tests");
    let row = |value: Value, expected: Value| {
        let (file, pointer) = tests(value);
        (file, pointer, expected)
    };
    hold(vec![
        row(json!({ "var": "x", "equals": null }), json!([{ "equals": null }])),
        row(json!({ "var": "x", "not_equals": 1 }), json!([{ "not_equals": 1 }])),
        row(json!({ "var": "x", "gt": 1, "lt": "9" }), json!([{ "gt": 1 }, { "lt": "9" }])),
        row(json!({ "var": "x", "gte": 1, "lte": 2 }), json!([{ "gte": 1 }, { "lte": 2 }])),
        row(json!({ "var": "x", "in": ["a", 1] }), json!([{ "in": ["a", 1] }])),
        row(json!({ "var": "x", "contains": "c" }), json!([{ "contains": "c" }])),
        row(json!({ "var": "x", "startsWith": "s" }), json!([{ "starts_with": "s" }])),
        row(json!({ "var": "x", "endsWith": "e" }), json!([{ "ends_with": "e" }])),
        row(json!({ "var": "x", "matches": "m" }), json!([{ "matches": "m" }])),
        (when(json!({})), "/steps/0/when", json!({ "all": [] })),
        (when(json!({ "and": [] })), "/steps/0/when", json!({ "all": [] })),
        (when(json!({ "or": [] })), "/steps/0/when", json!({ "any": [] })),
        (when(json!(true)), "/steps/0/when", json!({ "all": [] })),
        (
            when(json!({ "var": "x", "not": { "var": "y" } })),
            "/steps/0/when",
            json!({ "all": [{ "var": { "path": "x", "tests": [] } }, { "not": { "var": { "path": "y", "tests": [] } } }] }),
        ),
    ]);
}

#[test]
fn validation_criteria_in_all_shapes() {
    let rules = |value: Value| step(json!({ "validationCriteria": value }));
    let contains = json!({ "type": "contains", "value": "v", "message": "m" });
    let one = json!({ "one": { "demand": { "contains": "v" }, "message": "m" } });
    let demand = |rule: Value, demand: Value| {
        (rules(merged(rule, &json!({ "message": "m" }))), "/steps/0/kind/validate/0/one/demand", demand)
    };
    hold(vec![
        (rules(contains.clone()), "/steps/0/kind/validate", json!([one])),
        (rules(json!([contains, contains])), "/steps/0/kind/validate", json!([one, one])),
        (rules(json!({ "and": [contains] })), "/steps/0/kind/validate", json!([{ "all": [one] }])),
        (rules(json!({ "or": [contains] })), "/steps/0/kind/validate", json!([{ "any": [one] }])),
        (rules(json!({ "not": contains })), "/steps/0/kind/validate", json!([{ "not": one }])),
        demand(
            json!({ "type": "regex", "pattern": "p", "flags": "i" }),
            json!({ "matches": { "pattern": "p", "flags": "i" } }),
        ),
        demand(json!({ "type": "length", "min": 2 }), json!({ "length": { "min": 2, "max": null } })),
        demand(
            json!({ "type": "schema", "schema": { "type": "object" } }),
            json!({ "schema": { "type": "object" } }),
        ),
        (
            rules(merged(contains.clone(), &json!({ "condition": { "var": "x" } }))),
            "/steps/0/kind/validate/0/one/when/var/path",
            json!("x"),
        ),
    ]);
}

#[test]
fn loops_of_all_types() {
    let over = |settings: Value| {
        (file_with_loop(&merged(settings, &json!({ "maxIterations": 4 }))), "/steps/0/kind/over")
    };
    let row = |settings: Value, expected: Value| {
        let (file, pointer) = over(settings);
        (file, pointer, expected)
    };
    let x = json!({ "var": { "path": "x", "tests": [] } });
    hold(vec![
        row(json!({ "type": "while", "condition": { "var": "x" } }), json!({ "while": x })),
        row(json!({ "type": "until", "condition": { "var": "x" } }), json!({ "until": x })),
        row(
            json!({ "type": "while", "conditionSource": { "kind": "context_variable", "condition": { "var": "x" } } }),
            json!({ "while": x }),
        ),
        row(
            json!({ "type": "while", "conditionSource": { "kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": "l" } }),
            json!({ "control": { "loop_id": "l" } }),
        ),
        row(
            json!({ "type": "while", "conditionSource": { "kind": "artifact_contract", "contractRef": "wr.contracts.loop_control" } }),
            json!({ "control": { "loop_id": "round" } }),
        ),
        row(json!({ "type": "for", "count": 3 }), json!({ "count": { "fixed": 3 } })),
        row(json!({ "type": "for", "count": "tries" }), json!({ "count": { "var": "tries" } })),
        row(
            json!({ "type": "forEach", "items": "list" }),
            json!({ "items": { "list": "list", "item_var": "currentItem", "index_var": "currentIndex" } }),
        ),
        row(
            json!({ "type": "forEach", "items": "list", "itemVar": "it", "indexVar": "at" }),
            json!({ "items": { "list": "list", "item_var": "it", "index_var": "at" } }),
        ),
    ]);
    let plain = file_with_loop(&json!({ "type": "for", "count": 3, "maxIterations": 4 }));
    let named =
        file_with_loop(&json!({ "type": "for", "count": 3, "maxIterations": 4, "iterationVar": "turn" }));
    hold(vec![
        (plain.clone(), "/steps/0/kind/max", json!(4)),
        (plain.clone(), "/steps/0/kind/on_max", json!("continue")),
        (plain, "/steps/0/kind/iteration_var", json!("currentIteration")),
        (named, "/steps/0/kind/iteration_var", json!("turn")),
    ]);
}

#[test]
fn a_parallel_step_keeps_every_field_of_its_delegations() {
    let file = file(json!([{
        "id": "par", "type": "parallel", "title": "Par",
        "parallelDelegations": [{
            "workflowId": "wr.routine-sample", "goal": "G", "runCondition": { "var": "x" }, "contextMapping": { "a": "b.c" },
            "args": { "n": 5 }, "modelTier": "mid", "allowedTools": ["read"],
        }],
        "synthesis": { "prompt": "S", "outputContract": { "contractRef": "wr.contracts.gate_verdict" } },
    }]));
    hold(vec![
        (
            file.clone(),
            "/steps/0/kind/children/0",
            json!({
                "workflow": "wr.routine-sample", "goal": "G", "when": { "var": { "path": "x", "tests": [] } },
                "with": { "a": "{{b.c}}", "n": 5 }, "model": "standard", "allowed_tools": ["read"],
            }),
        ),
        (file.clone(), "/steps/0/kind/join", json!("all")),
        (file.clone(), "/steps/0/kind/synthesis_step/kind/body/text", json!("S")),
        (file, "/steps/0/kind/synthesis_step/kind/outputs/0/contract", json!("wr.contracts.gate_verdict")),
    ]);
}
