//! A workflow with a step of every kind.

use serde_json::json;

use crate::workflow::Workflow;

pub(super) fn workflow() -> Workflow {
    serde_json::from_value(json!({
        "format": "native",
        "id": "lh.bugfix-small",
        "name": "Small bug fix",
        "version": "1.2.0",
        "category": "coding",
        "about": "For bugs that one person could fix in an hour.",
        "vars": { "declared": {
            "goal": { "kind": "string", "required": true, "writer": "agent" },
            "risk": { "kind": { "enum": ["low", "high"] }, "default": "low", "writer": "agent" },
        } },
        "budget": { "tokens": 400_000, "time_ms": 2_700_000, "money_micros": 3_000_000 },
        "steps": [
            step("reproduce", "Reproduce it", &json!({ "kind": prompt(&json!({ "produces": { "failing_command": "string" } })) })),
            diagnose(),
            fix(),
            step("slices", "", &json!({ "kind": {
                "kind": "todo", "list": "plan.slices", "item_var": "item", "index_var": "index", "max": 20, "may_stop": false,
                "steps": [step("do", "{{item.title}}", &json!({ "kind": prompt(&json!({})) }))],
            } })),
            confidence(),
            step("pitch", "Find the pitch", &json!({ "kind": {
                "kind": "gather", "what": "pitch", "from": ["injected", { "paths": "docs/*.md" }], "into": "pitch", "optional": true,
            } })),
            reviewers(),
            step("audit", "Audit", &json!({ "kind": {
                "kind": "spawn", "child": { "workflow": "lh.audit.production", "brief": "blank" }, "into": "audit",
            } })),
            step("look", "Look at it", &json!({ "when": high_risk(), "kind": {
                "kind": "gate", "by": "person", "question": "Ship {{goal}}?", "accepts": "console", "timeout_ms": 259_200_000,
            } })),
            step("ship", "Ship it", &json!({ "kind": {
                "kind": "deliver", "settings": { "commit": "auto", "pull_request": "draft" },
            } })),
        ],
    }))
    .expect("the sample is a compiled workflow")
}

fn diagnose() -> serde_json::Value {
    let jump = json!({
        "when": { "var": { "path": "diagnosis.evidence.length", "tests": [{ "lt": 2 }] } },
        "to": "reproduce",
        "max_jumps": 2,
    });
    let output = json!([{ "contract": "diagnosis", "required": true, "into": "diagnosis" }]);
    step(
        "diagnose",
        "Find the cause",
        &json!({ "jump": jump, "kind": {
        "kind": "routine", "routine": "routine.hypothesis-challenge", "steps": [
            step("diagnose.state", "State the causes", &json!({ "kind": prompt(&json!({})) })),
            step("diagnose.test", "Test them", &json!({ "kind": prompt(&json!({ "outputs": output })) })),
        ],
    } }),
    )
}

fn fix() -> serde_json::Value {
    let passed = json!({ "var": { "path": "checks.outcome", "tests": [{ "equals": "passed" }] } });
    step(
        "fix",
        "Fix it",
        &json!({ "kind": {
        "kind": "loop", "over": { "until": passed }, "max": 3, "on_max": "park", "iteration_var": "iteration", "steps": [
            step("edit", "Make it pass", &json!({ "model": "standard", "kind": prompt(&json!({})) })),
            step("checks", "Run the checks", &json!({
                "kind": { "kind": "run", "what": { "checks": "all" }, "timeout_ms": 600_000, "into": "checks", "rerun": false },
                "confirm": { "by": "person", "accepts": "terminal", "when": high_risk() },
            })),
        ],
    } }),
    )
}

fn confidence() -> serde_json::Value {
    let dimension = json!({ "id": "evidence", "levels": ["low", "high"], "required": true });
    let consequence = json!({ "when": { "any": "low" }, "then": { "redo": ["List every caller."] } });
    let assessment = json!({ "id": "confidence", "dimensions": [dimension], "consequences": [consequence] });
    step("confidence", "How sure?", &json!({ "kind": prompt(&json!({ "assessments": [assessment] })) }))
}

fn reviewers() -> serde_json::Value {
    step(
        "reviewers",
        "Reviews",
        &json!({ "kind": {
        "kind": "parallel", "join": "all", "on_failure": "continue",
        "children": [
            { "workflow": "lh.review.correctness", "brief": "blank" },
            { "workflow": "lh.review.security", "when": high_risk() },
        ],
        "synthesis_step": {
            "id": "reviewers.synthesis", "title": "Bring the results together", "attempts": 10,
            "kind": { "kind": "prompt", "body": { "text": "Merge the verdicts." }, "notes": "none" },
        },
    } }),
    )
}

fn high_risk() -> serde_json::Value {
    json!({ "var": { "path": "risk", "tests": [{ "equals": "high" }] } })
}

fn prompt(more: &serde_json::Value) -> serde_json::Value {
    merged(json!({ "kind": "prompt", "body": { "text": "Do it." }, "notes": "required" }), more)
}

fn step(id: &str, title: &str, more: &serde_json::Value) -> serde_json::Value {
    merged(json!({ "id": id, "title": title, "attempts": 10 }), more)
}

fn merged(mut base: serde_json::Value, more: &serde_json::Value) -> serde_json::Value {
    let more = more.as_object().expect("more fields").clone();
    base.as_object_mut().expect("an object").extend(more);
    base
}
