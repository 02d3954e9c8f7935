//! Behaviour that spans several fields, and what is said of slips.

use serde_json::{Value, json};

use super::{compiled, file, file_with_loop, file_with_step, merged, messages, outcome};

fn control_step(id: &str) -> Value {
    json!({ "id": id, "title": "Decide", "prompt": "Decide.", "outputContract": { "contractRef": "wr.contracts.loop_control" } })
}

fn loop_step(id: &str, settings: Value, body: Value) -> Value {
    let mut step = json!({ "id": id, "type": "loop", "title": "Loop" });
    step["loop"] = settings;
    step["body"] = body;
    step
}

/// The only message, and its severity.
fn only_message(file: &Value) -> String {
    let outcome = outcome(file);
    assert_eq!(outcome.diagnostics.len(), 1, "{file}: {:#?}", outcome.diagnostics);
    let diagnostic = &outcome.diagnostics[0];
    assert!(diagnostic.fix.is_some(), "{diagnostic:?}");
    assert_eq!(outcome.value.is_none(), diagnostic.is_error(), "{diagnostic:?}");
    format!("{:?}: {}", diagnostic.severity, diagnostic.message)
}

#[test]
fn a_step_that_is_the_body_of_a_loop_does_not_run_by_itself() {
    let settings = json!({ "type": "for", "count": 2, "maxIterations": 2 });
    let body = json!({ "id": "the-body", "title": "Body", "prompt": "Do." });
    let workflow = compiled(&file(json!([body, loop_step("round", settings, json!("the-body"))])));
    assert_eq!(workflow["steps"].as_array().unwrap().len(), 1);
    assert_eq!(workflow["steps"][0]["kind"]["steps"][0]["id"], "the-body");
}

#[test]
fn two_loops_may_share_a_body_and_each_has_its_own() {
    let settings = json!({ "type": "for", "count": 2, "maxIterations": 2 });
    let body = json!({ "id": "the-body", "title": "Body", "prompt": "Do." });
    let first = loop_step("first", settings.clone(), json!("the-body"));
    let second = loop_step("second", settings, json!("the-body"));
    let workflow = compiled(&file(json!([first, second, body])));
    assert_eq!(workflow["steps"][0]["kind"]["steps"][0]["id"], "the-body");
    assert_eq!(workflow["steps"][1]["kind"]["steps"][0]["id"], "second.the-body");
}

#[test]
fn only_the_step_that_declares_the_contract_decides_about_its_own_loop() {
    let by_artifact = |name: &str| {
        json!({ "type": "while", "maxIterations": 3,
            "conditionSource": { "kind": "artifact_contract", "contractRef": "wr.contracts.loop_control", "loopId": name } })
    };
    let inner = loop_step("inner", by_artifact("inner_loop"), json!([control_step("inner-decision")]));
    let work = json!({ "id": "work", "title": "Work", "prompt": "Work." });
    let outer =
        loop_step("outer", by_artifact("outer_loop"), json!([work, inner, control_step("outer-decision")]));
    let workflow = compiled(&file(json!([control_step("before"), outer])));
    assert_eq!(workflow["steps"][0]["kind"]["control"], Value::Null);
    let body = &workflow["steps"][1]["kind"]["steps"];
    assert_eq!(body[0]["kind"]["control"], Value::Null);
    assert_eq!(body[1]["kind"]["steps"][0]["kind"]["control"], json!({ "loop_id": "inner_loop" }));
    assert_eq!(body[2]["kind"]["control"], json!({ "loop_id": "outer_loop" }));
}

#[test]
fn a_body_step_with_the_contract_makes_a_loop_without_condition_artifact_driven() {
    let settings = json!({ "type": "while", "maxIterations": 3 });
    let workflow = compiled(&file(json!([loop_step("round", settings, json!([control_step("decide")]))])));
    assert_eq!(workflow["steps"][0]["kind"]["over"], json!({ "control": { "loop_id": "round" } }));

    let both = json!({ "type": "while", "maxIterations": 3, "condition": { "var": "x" } });
    let both = file(json!([loop_step("round", both, json!([control_step("decide")]))]));
    assert_eq!(
        only_message(&both),
        "Warning: a body step of `round` decides by artifact, so the condition is not looked at"
    );
}

#[test]
fn notes_of_a_loop_hold_for_its_body() {
    let settings = json!({ "type": "for", "count": 2, "maxIterations": 2 });
    let body = json!([{ "id": "free", "title": "T", "prompt": "P" }, { "id": "strict", "title": "T", "prompt": "P", "notesOptional": false }]);
    let step = merged(loop_step("round", settings, body), &json!({ "notesOptional": true }));
    let workflow = compiled(&file(json!([step])));
    let body = &workflow["steps"][0]["kind"]["steps"];
    assert_eq!(
        (&body[0]["kind"]["notes"], &body[1]["kind"]["notes"]),
        (&json!("optional"), &json!("required"))
    );
}

#[test]
fn a_routine_is_expanded_in_place_with_its_arguments() {
    let step = json!({ "id": "call", "title": "Call", "agentRole": "R", "guidance": ["G"], "requireConfirmation": true, "runCondition": { "var": "x" },
        "templateCall": { "templateId": "wr.templates.routine.sample", "args": { "target": "the barn" } } });
    let workflow = compiled(&file(json!([step])));
    let call = &workflow["steps"][0];
    assert_eq!(
        (&call["kind"]["kind"], &call["kind"]["routine"]),
        (&json!("routine"), &json!("wr.routine-sample"))
    );
    assert_eq!((&call["confirm"]["by"], &call["when"]["var"]["path"]), (&json!("person"), &json!("x")));
    let inner = &call["kind"]["steps"];
    assert_eq!(
        (&inner[0]["id"], &inner[0]["kind"]["body"]["text"]),
        (&json!("call.look-around"), &json!("Look at the barn."))
    );
    assert_eq!(
        (&inner[1]["id"], &inner[1]["role"], &inner[1]["guidance"]),
        (&json!("call.write-down"), &json!("R"), &json!(["G"]))
    );
}

#[test]
fn a_routine_that_no_source_has_becomes_a_prompt_that_says_so() {
    let file = file(json!([{ "id": "call", "title": "Call",
        "templateCall": { "templateId": "wr.templates.routine.smaple", "args": { "target": "the barn" } } }]));
    assert_eq!(
        only_message(&file),
        "Warning: no loaded source has the routine `wr.templates.routine.smaple`; the agent is told so"
    );
    let text = compiled(&file)["steps"][0]["kind"]["body"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("wr.templates.routine.smaple") && text.contains("target: the barn"), "{text}");
}

#[test]
fn a_consequence_goes_to_the_assessments_that_it_is_for() {
    let dimension = |id: &str| json!({ "id": id, "purpose": "p", "levels": ["low", "high"] });
    let assessments = json!([
        { "id": "a", "purpose": "p", "dimensions": [dimension("x")] },
        { "id": "b", "purpose": "p", "dimensions": [dimension("y")] },
    ]);
    let consequence = |when: Value, words: &str| json!({ "when": when, "effect": { "kind": "require_followup", "guidance": words } });
    let step = json!({ "assessmentRefs": ["a", "b"], "assessmentConsequences": [
        consequence(json!({ "anyEqualsLevel": "low" }), "for both"),
        consequence(json!({ "anyEqualsLevel": "high", "forAssessment": "b" }), "for b"),
    ] });
    let workflow = compiled(&merged(file_with_step(&step), &json!({ "assessments": assessments })));
    let found = &workflow["steps"][0]["kind"]["assessments"];
    assert_eq!(
        found[0]["consequences"],
        json!([{ "when": { "any": "low" }, "then": { "guidance": "for both" } }])
    );
    assert_eq!(found[1]["consequences"].as_array().unwrap().len(), 2);
    assert_eq!(
        found[0]["dimensions"][0],
        json!({ "id": "x", "purpose": "p", "levels": ["low", "high"], "required": true })
    );
}

#[test]
fn functions_are_shown_where_they_are_named() {
    let root = json!({ "functionDefinitions": [{ "name": "f", "definition": "D", "parameters": [{ "name": "p", "type": "string" }] }] });
    let workflow = compiled(&merged(file_with_step(&json!({ "functionReferences": ["f()"] })), &root));
    assert_eq!(
        workflow["steps"][0]["kind"]["functions"],
        json!([{ "name": "f", "definition": "D", "parameters": [{ "name": "p", "type": "string" }] }])
    );
    let unnamed = merged(file_with_step(&json!({})), &root);
    assert_eq!(only_message(&unnamed), "Warning: no step names the function `f`, so no agent is shown it");
}

#[test]
fn slots_are_bound_or_take_their_default() {
    let points = json!([
        { "slotId": "bound_slot", "purpose": "p", "default": "wr.other" },
        { "slotId": "free_slot", "purpose": "p", "default": "wr.routine-sample" },
    ]);
    let step = json!({ "prompt": "{{wr.bindings.bound_slot}} and {{ wr.bindings.free_slot }} for {{goal}}" });
    let workflow = compiled(&merged(file_with_step(&step), &json!({ "extensionPoints": points })));
    assert_eq!(
        workflow["steps"][0]["kind"]["body"]["text"],
        "wr.routine-sample and wr.routine-sample for {{goal}}"
    );
}

#[test]
fn slips_are_warned_about_with_a_way_out() {
    let step = |more: Value| file_with_step(&more);
    let rows = [
        (step(json!({ "agentrole": "R" })), "Warning: a step has no key `agentrole`"),
        (
            merged(step(json!({})), &json!({ "metaguidance": [] })),
            "Warning: the root has no key `metaguidance`",
        ),
        (
            merged(step(json!({})), &json!({ "features": ["wr.features.magic"] })),
            "Warning: the feature `wr.features.magic` is not known here; it adds nothing",
        ),
        (step(json!({ "modelTier": "huge" })), "Warning: `modelTier` cannot be `huge`; it is left out"),
        (
            step(json!({ "hasValidation": true })),
            "Warning: `hasValidation` is set, and there are no `validationCriteria`; nothing is checked",
        ),
        (step(json!({ "assessmentRefs": ["none"] })), "Warning: the file has no assessment `none`"),
        (step(json!({ "functionReferences": ["none"] })), "Warning: there is no function `none`"),
        (
            step(json!({ "outputContract": { "contractRef": "wr.contracts.loop_contol" } })),
            "Warning: the contract `wr.contracts.loop_contol` is not known here, so nothing is checked against it",
        ),
        (
            step(json!({ "prompt": "{{wr.bindings.none}}" })),
            "Warning: the file has no extension point `none`",
        ),
        (
            step(json!({ "runCondition": { "var": "x", "eqals": 1 } })),
            "Warning: a condition has no key `eqals`; it changes nothing",
        ),
        (
            step(json!({ "validationCriteria": "must be good" })),
            "Warning: a plain text cannot be checked; the agent is shown it as guidance",
        ),
        (
            step(
                json!({ "templateCall": { "templateId": "wr.templates.routine.sample", "args": { "target": "t" } } }),
            ),
            "Warning: `prompt` has no effect beside `templateCall`",
        ),
        (
            step(json!({ "prompt": "x".repeat(8193) })),
            "Warning: the format says otherwise: it has 8193 characters and must have at most 8192 characters",
        ),
        (
            step(json!({ "id": "No_Good" })),
            "Warning: the format says otherwise: `\"No_Good\"` does not match `^[a-z0-9-]+$`",
        ),
        (
            file_with_loop(&json!({ "type": "for", "count": 1, "maxIterations": 2000 })),
            "Warning: the format says otherwise: `2000` must be at most 1000",
        ),
        (
            file_with_loop(&json!({ "type": "for", "count": 1, "maxIterations": 2, "items": "x" })),
            "Warning: `items` means nothing for this type of loop",
        ),
        (
            file(
                json!([{ "id": "par", "type": "parallel", "title": "P", "parallelDelegations": [{ "workflowId": "wr.nowhere" }] }]),
            ),
            "Warning: no loaded source has the workflow `wr.nowhere`",
        ),
        (
            file(
                json!([{ "id": "one", "title": "One", "promptBlocks": { "goal": [{ "kind": "ref", "refId": "wr.refs.none" }] } }]),
            ),
            "Warning: the shared text `wr.refs.none` is not known here",
        ),
        (step(json!({ "promptFragments": [{ "text": "T" }] })), "Warning: the format asks for `id` here"),
    ];
    for (file, message) in rows {
        assert_eq!(only_message(&file), message);
    }
}

#[test]
fn what_cannot_mean_anything_is_refused() {
    let rows = [
        (file(json!([])), "a workflow needs at least one step"),
        (file(json!([{ "title": "T", "prompt": "P" }])), "a step needs `id`"),
        (
            file(json!([{ "id": "one", "title": "One" }])),
            "step `one` asks nothing: it has no `prompt`, `promptBlocks` or `templateCall`",
        ),
        (
            file_with_step(&json!({ "promptBlocks": { "goal": "G" } })),
            "step `one` has both `prompt` and `promptBlocks`, and only one can be its prompt",
        ),
        (file_with_step(&json!({ "type": "magic" })), "there is no step type `magic`"),
        (file_with_step(&json!({ "runCondition": "x" })), "a condition must be a map, and this is a text"),
        (file_with_step(&json!({ "runCondition": { "equals": 1 } })), "a comparison needs `var`"),
        (file_with_loop(&json!({ "type": "while", "maxIterations": 3 })), "`loop` needs `condition`"),
        (file_with_loop(&json!({ "type": "for", "count": 3 })), "`loop` needs `maxIterations`"),
        (file_with_loop(&json!({ "type": "sometimes", "maxIterations": 3 })), "`type` cannot be `sometimes`"),
        (
            file(json!([loop_step(
                "round",
                json!({ "type": "for", "count": 1, "maxIterations": 1 }),
                json!("nowhere")
            )])),
            "the file has no step `nowhere` at its top level",
        ),
    ];
    let bad_pattern = outcome(&file_with_step(&json!({ "runCondition": { "var": "x", "matches": "(" } })));
    assert!(messages(&bad_pattern)[0].starts_with("`(` is not a pattern"), "{:?}", messages(&bad_pattern));
    let rule = json!({ "type": "regex", "pattern": "[", "message": "m" });
    assert!(outcome(&file_with_step(&json!({ "validationCriteria": rule }))).value.is_none());
    let rule = json!({ "type": "schema", "schema": { "type": "strin" }, "message": "m" });
    assert!(outcome(&file_with_step(&json!({ "validationCriteria": rule }))).value.is_none());
    for (file, message) in rows {
        let outcome = outcome(&file);
        assert!(outcome.value.is_none(), "{file}");
        assert!(messages(&outcome).iter().any(|it| it == message), "{message}: {:#?}", outcome.diagnostics);
    }
}

#[test]
fn loops_that_are_each_others_body_are_refused() {
    let settings = json!({ "type": "for", "count": 1, "maxIterations": 1 });
    let start = loop_step("start", settings.clone(), json!("one"));
    let one = loop_step("one", settings.clone(), json!("two"));
    let two = loop_step("two", settings, json!("one"));
    let outcome = outcome(&file(json!([start, one, two])));
    assert!(outcome.value.is_none());
    assert!(
        messages(&outcome).iter().any(|it| it.contains("each other's body")),
        "{:#?}",
        outcome.diagnostics
    );
}

#[test]
fn a_long_chain_of_named_bodies_is_refused_before_it_is_followed() {
    let settings = json!({ "type": "for", "count": 1, "maxIterations": 1 });
    let next = |level: usize| {
        loop_step(&format!("level-{level}"), settings.clone(), json!(format!("level-{}", level + 1)))
    };
    let mut steps: Vec<Value> = (0..400).map(next).collect();
    steps.push(json!({ "id": "level-400", "title": "T", "prompt": "P" }));
    let outcome = outcome(&file(Value::Array(steps)));
    assert!(outcome.value.is_none());
    assert!(
        messages(&outcome).iter().any(|it| it.contains("more than 16 levels deep")),
        "{:?}",
        messages(&outcome)
    );
}

#[test]
fn bodies_that_are_shared_again_and_again_end_in_a_refusal() {
    let settings = json!({ "type": "for", "count": 1, "maxIterations": 1 });
    let body = |level: usize| json!([format!("level-{level}"), format!("level-{level}")]);
    let mut steps: Vec<Value> = (0..30)
        .map(|level| loop_step(&format!("level-{level}"), settings.clone(), body(level + 1)))
        .collect();
    steps.push(json!({ "id": "level-30", "title": "T", "prompt": "P" }));
    steps.insert(0, loop_step("start", settings, json!("level-0")));
    let outcome = outcome(&file(Value::Array(steps)));
    assert!(outcome.value.is_none());
    assert!(
        messages(&outcome).iter().any(|it| it.contains("more than 500 steps")),
        "{:?}",
        messages(&outcome)
    );
}
