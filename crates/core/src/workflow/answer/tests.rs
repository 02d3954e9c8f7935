//! What is accepted, and in which words the rest is refused.

mod artifacts;
mod examples;
mod unclear;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::scope::Scope;
use super::super::{Step, Workflow};
use super::*;
use artifacts::with_contracts;

/// A workflow with one step: what the compiled form says by default, and what the test is about on top.
fn workflow(prompt: &Value, root: &Value) -> Workflow {
    let mut step = json!({"kind": "prompt", "body": {"text": "Do it."}, "notes": "optional"});
    overlay(&mut step, prompt);
    let mut workflow = json!({
        "format": "native", "id": "lh.test", "name": "Test", "version": "1.0.0", "vars": "open",
        "steps": [{"id": "one", "title": "One", "attempts": 10, "kind": step}],
    });
    overlay(&mut workflow, root);
    serde_json::from_value(workflow).expect("the compiled form")
}

fn overlay(base: &mut Value, over: &Value) {
    let fields = over.as_object().expect("the tests give objects");
    for (name, value) in fields {
        base[name] = value.clone();
    }
}

fn answer(payload: &Value) -> Answer {
    Answer::from_payload(payload).expect("an answer that can be read")
}

fn checked(workflow: &Workflow, vars: &Value, payload: &Value) -> Result<Accepted, Vec<Reason>> {
    let fields = vars.as_object().expect("the tests give objects");
    let vars: BTreeMap<String, Arc<Value>> =
        fields.iter().map(|(name, value)| (name.clone(), Arc::new(value.clone()))).collect();
    check(workflow, &workflow.steps[0], &Scope::new(&vars), &answer(payload))
}

#[track_caller]
fn accepted(workflow: &Workflow, payload: &Value) -> Accepted {
    checked(workflow, &json!({}), payload).unwrap_or_else(|reasons| panic!("{payload}: {reasons:#?}"))
}

#[track_caller]
fn refused(workflow: &Workflow, payload: &Value) -> Vec<(String, String)> {
    let reasons = checked(workflow, &json!({}), payload).expect_err("it should be refused");
    for reason in &reasons {
        assert!(!reason.fix.is_empty(), "{reason:?}");
    }
    reasons.into_iter().map(|reason| (reason.code, reason.message)).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(code, message)| ((*code).to_owned(), (*message).to_owned())).collect()
}

#[test]
fn every_name_for_a_field_gives_the_same_answer() {
    let wanted = json!({"notes": "n", "vars": {"a": 1}, "artifacts": [{"kind": "k"}]});
    for payload in [
        wanted.clone(),
        json!({"notesMarkdown": "n", "context": {"a": 1}, "artifacts": [{"kind": "k"}]}),
        json!({"output": {"notesMarkdown": "n", "artifacts": [{"kind": "k"}]}, "context": {"a": 1}}),
        json!({"output": {"notes": "n", "artifacts": [{"kind": "k"}]}, "vars": {"a": 1}, "notes": null}),
    ] {
        assert_eq!(answer(&payload).to_payload(), wanted, "{payload}");
    }
    for empty in [json!(null), json!({}), json!({"vars": {}, "artifacts": [], "output": {}})] {
        assert_eq!(answer(&empty).to_payload(), json!({}));
    }
}

#[test]
fn a_payload_that_cannot_be_read_is_refused_with_every_reason() {
    let codes = |payload: &Value| -> Vec<String> {
        let reasons = Answer::from_payload(payload).expect_err("it should be refused");
        reasons.into_iter().map(|reason| reason.code).collect()
    };
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let table = [
        (json!([1]), vec!["wrong_type"]),
        (json!({"notez": "x", "var": {}}), vec!["unknown_field", "unknown_field"]),
        (json!({"nope": null}), vec!["unknown_field"]),
        (json!({"output": {"note": "x"}}), vec!["unknown_field"]),
        (json!({"output": "x"}), vec!["wrong_type"]),
        (json!({"notes": 1, "vars": [], "artifacts": {}}), vec!["wrong_type", "wrong_type", "wrong_type"]),
        (json!({"notes": "a", "notesMarkdown": "b"}), vec!["given_twice"]),
        (json!({"vars": {}, "context": {}}), vec!["given_twice"]),
        (json!({"notes": "x".repeat(10_000_000)}), vec!["notes_too_long"]),
        (json!({"notes": "a\0b"}), vec!["nul"]),
        (json!({"vars": {"a": ["x\0"]}}), vec!["nul"]),
        (json!({"vars": {"a\0": 1}}), vec!["nul"]),
        (json!({"artifacts": [{"a\0": 1}]}), vec!["nul"]),
        (json!({"vars": {"a": "x".repeat(300 * 1024)}}), vec!["too_large"]),
        (json!({"artifacts": ["x".repeat(1_000_001)]}), vec!["too_large"]),
        (json!({"vars": {"a": deep(100)}}), vec!["too_deep"]),
        (json!({"artifacts": [deep(65)]}), vec!["too_deep"]),
        (json!({"vars": {"__proto__": 1}}), vec!["forbidden_key"]),
        (json!({"vars": {"a": [{"constructor": 1}]}}), vec!["forbidden_key"]),
        (json!({"vars": {"prototype": 1}}), vec!["forbidden_key"]),
        (json!({"vars": {"wr": 1, "lh.x": 2, "longhaul": 3, "__x": 4, " ": 5}}), vec!["reserved_key"; 5]),
    ];
    for (payload, wanted) in table {
        assert_eq!(codes(&payload), wanted, "{:.80}", payload.to_string());
    }
    assert!(Answer::from_payload(&json!({"vars": {"a": deep(64), "wrong": 1}})).is_ok());
}

#[test]
fn an_unknown_field_is_answered_with_the_one_that_was_meant() {
    let reasons = Answer::from_payload(&json!({"artefacts": []})).expect_err("it is unknown");
    assert_eq!(
        reasons,
        [Reason::new(
            "unknown_field",
            "`artefacts` is not a field of an answer",
            "did you mean `artifacts`?"
        )]
    );
}

#[test]
fn notes_are_wanted_allowed_or_refused() {
    let of = |notes: &str| workflow(&json!({ "notes": notes }), &json!({}));
    assert_eq!(
        refused(&of("required"), &json!({"notes": " \n"})),
        pairs(&[("notes_missing", "the step wants notes, and there are none")])
    );
    assert_eq!(
        refused(&of("none"), &json!({"notes": "x"})),
        pairs(&[("notes_refused", "the step takes no notes")])
    );
    accepted(&of("required"), &json!({"notes": "x"}));
    accepted(&of("optional"), &json!({}));
    accepted(&of("none"), &json!({"notes": ""}));
}

#[test]
fn every_rule_on_the_notes_is_judged() {
    let one = |demand: Value, message: &str| json!({"one": {"demand": demand, "message": message}});
    let contains = |word: &str| one(json!({ "contains": word }), word);
    let when = json!({"var": {"path": "strict", "tests": []}});
    let mut conditional = contains("strictly");
    conditional["one"]["when"] = when;
    let rules = json!([
        contains("cause"),
        one(json!({"matches": {"pattern": "^## evidence", "flags": "im"}}), "a heading"),
        one(json!({"length": {"min": 30, "max": null}}), "longer"),
        {"any": [contains("x1"), contains("x2")]},
        {"not": contains("TODO")},
        {"all": []},
        {"any": []},
        conditional,
    ]);
    let workflow = workflow(&json!({ "validate": rules }), &json!({}));
    accepted(&workflow, &json!({"notes": "the cause is x2\n## Evidence\nseen in the log"}));
    let messages = |payload: &Value, vars: &Value| -> Vec<String> {
        let reasons = checked(&workflow, vars, payload).expect_err("it should be refused");
        reasons.into_iter().map(|reason| reason.message).collect()
    };
    assert_eq!(
        messages(&json!({"notes": "TODO"}), &json!({})),
        ["cause", "a heading", "longer", "x1; or: x2", "TODO"]
    );
    assert_eq!(
        messages(
            &json!({"notes": "the cause is x1\n## Evidence\nseen in the log"}),
            &json!({"strict": true})
        ),
        ["strictly"]
    );
}

#[test]
fn notes_can_be_asked_for_as_json() {
    let schema = json!({"type": "object", "required": ["cause"]});
    let rule = json!([{"one": {"demand": {"schema": schema}, "message": "JSON with a cause"}}]);
    let workflow = workflow(&json!({ "validate": rule }), &json!({}));
    accepted(&workflow, &json!({"notes": "{\"cause\": 1}"}));
    for notes in ["{}", "cause"] {
        assert_eq!(
            refused(&workflow, &json!({ "notes": notes })),
            pairs(&[("validation", "JSON with a cause")])
        );
    }
}

fn declared() -> Value {
    json!({"vars": {"declared": {
        "goal": {"kind": "string", "required": true, "writer": "agent"},
        "risk": {"kind": {"enum": ["low", "High"]}, "writer": "agent"},
        "count": {"kind": "integer", "writer": "agent"},
        "ratio": {"kind": "number", "writer": "agent"},
        "flag": {"kind": "boolean", "writer": "agent"},
        "list": {"kind": "array", "writer": "agent"},
        "map": {"kind": "object", "writer": "agent"},
        "anything": {"kind": "any", "writer": "agent"},
        "checks": {"kind": "any", "writer": "engine"},
        "diagnosis": {"kind": "any", "writer": "engine"},
    }}})
}

#[test]
fn vars_are_taken_by_their_declaration() {
    let workflow = workflow(
        &json!({"outputs": [{"contract": "diagnosis", "required": false, "into": "diagnosis"}]}),
        &declared(),
    );
    let vars = json!({"risk": " high", "count": 3.0, "ratio": 1, "flag": false, "list": [], "map": {}, "anything": "x"});
    let taken = accepted(&workflow, &json!({ "vars": vars }));
    assert_eq!(
        json!(taken.set),
        json!({"anything": "x", "count": 3.0, "flag": false, "list": [], "map": {}, "ratio": 1, "risk": "High"})
    );
    assert_eq!(accepted(&workflow, &json!({"vars": {"risk": null}})).unset, ["risk"]);
    let wrong = json!({"gaol": "x", "risk": "middle", "count": 1.5, "flag": "yes", "goal": null, "checks": {}, "diagnosis": {}});
    assert_eq!(
        refused(&workflow, &json!({ "vars": wrong })),
        pairs(&[
            ("unknown_var", "the workflow declares no var `gaol`"),
            ("var_type", r#"`risk` is string ("middle"), not one of "low", "High""#),
            ("var_type", "`count` is number (1.5), not a whole number"),
            ("var_type", r#"`flag` is string ("yes"), not true or false"#),
            ("var_required", "`goal` is required and cannot be deleted"),
            (
                "var_of_the_engine",
                "`checks` is not set through vars: the engine sets it from what it has accepted"
            ),
            (
                "var_of_the_engine",
                "`diagnosis` is not set through vars: the engine sets it from what it has accepted"
            ),
        ])
    );
    let reasons =
        checked(&workflow, &json!({}), &json!({"vars": {"gaol": 1, "diagnosis": 1}})).expect_err("both");
    assert_eq!(reasons[0].fix, "did you mean `goal`?");
    assert_eq!(reasons[1].fix, "hand it in as an artifact of kind `diagnosis`");
}

#[test]
fn a_loop_variable_stays_as_it_is() {
    let workflow = workflow(&json!({}), &json!({}));
    let vars = BTreeMap::new();
    let mut scope = Scope::new(&vars);
    scope.local.insert("item".into(), json!(1));
    let taken = check(&workflow, &workflow.steps[0], &scope, &answer(&json!({"vars": {"item": 2, "x": 1}})));
    let taken = taken.expect("it is a warning");
    assert_eq!(json!(taken.set), json!({"x": 1}));
    assert_eq!(taken.warnings, ["`item` is a variable of the loop around the step; it stays as it is"]);
}

#[test]
fn what_a_step_produces_must_be_set_after_the_answer() {
    let workflow = workflow(&json!({"produces": {"command": "string", "count": "integer"}}), &json!({}));
    let check = |vars: Value, payload: Value| {
        checked(&workflow, &vars, &payload)
            .map(|_| ())
            .map_err(|reasons| reasons.into_iter().map(|reason| reason.message).collect::<Vec<_>>())
    };
    assert_eq!(check(json!({}), json!({"vars": {"command": "x", "count": 1}})), Ok(()));
    assert_eq!(check(json!({"command": "x", "count": 1}), json!({})), Ok(()));
    let missing = |name: &str, kind: &str| format!("the step must set `{name}` ({kind})");
    assert_eq!(
        check(json!({}), json!({})),
        Err(vec![missing("command", "text"), missing("count", "a whole number")])
    );
    assert_eq!(
        check(json!({"command": "x", "count": "old"}), json!({"vars": {"command": null}})),
        Err(vec![missing("command", "text"), r#"`count` is string ("old"), not a whole number"#.to_owned()])
    );
    assert_eq!(
        check(json!({"count": 1}), json!({"vars": {"command": 5}})),
        Err(vec!["`command` is number (5), not text".to_owned()])
    );
}

fn assessed() -> Workflow {
    workflow(
        &json!({"assessments": [{
            "id": "confidence",
            "dimensions": [
                {"id": "evidence", "levels": ["low", "High"], "required": true},
                {"id": "scope", "levels": ["narrow", "wide"], "required": false},
            ],
            "consequences": [
                {"when": {"any": "low"}, "then": {"guidance": "Look at {{place}}."}},
                {"when": {"dimension": {"id": "scope", "level": "wide"}}, "then": {"redo": ["List callers.", "Test them."]}},
            ],
        }]}),
        &json!({}),
    )
}

fn assessment(dimensions: &Value) -> Value {
    json!({"artifacts": [{"kind": "wr.assessment", "assessmentId": "confidence", "dimensions": dimensions}]})
}

#[test]
fn levels_are_read_leniently_and_what_is_wrong_is_named() {
    let workflow = assessed();
    accepted(&workflow, &assessment(&json!({"evidence": " HIGH "})));
    accepted(
        &workflow,
        &assessment(&json!({"evidence": {"level": "high", "rationale": "seen"}, "scope": "Narrow"})),
    );
    accepted(&workflow, &json!({"artifacts": [{"dimensions": {"evidence": "high"}}]}));
    assert_eq!(
        refused(&workflow, &assessment(&json!({"scop": "wide", "scope": {"rationale": "x"}}))),
        pairs(&[
            ("dimension_missing", "assessment `confidence` lacks the dimension `evidence`"),
            ("unknown_level", "assessment `confidence`: the level of `scope` is null (null)"),
            ("unknown_dimension", "assessment `confidence` has no dimension `scop`"),
        ])
    );
    let reasons =
        checked(&workflow, &json!({}), &assessment(&json!({"evidence": "medium"}))).expect_err("unknown");
    assert_eq!(reasons[0].fix, "choose one of `low`, `High`");
    assert_eq!(
        refused(&workflow, &json!({})),
        pairs(&[("artifact_missing", "the assessment `confidence` is missing")])
    );
    assert_eq!(
        refused(
            &workflow,
            &json!({"artifacts": [{"kind": "wr.assessment", "assessmentId": "other", "dimensions": {}}]})
        ),
        pairs(&[(
            "artifact_for_another",
            "the assessment `confidence` is missing: `assessmentId` is `other`, wanted `confidence`"
        )])
    );
}

#[test]
fn a_level_with_a_consequence_is_refused_with_what_to_do() {
    let workflow = assessed();
    let payload = assessment(&json!({"evidence": "Low", "scope": "wide"}));
    let reasons = checked(&workflow, &json!({"place": "the log"}), &payload).expect_err("both follow");
    let again = "\nThen assess anew and hand in the whole answer again.";
    assert_eq!(
        reasons,
        [
            Reason::new(
                "follow_up",
                "assessment `confidence` asks for more: `evidence` is `low`",
                format!("Look at the log.{again}")
            ),
            Reason::new(
                "follow_up",
                "assessment `confidence` asks for more: `scope` is `wide`",
                format!("do this again, in order:\n1. List callers.\n2. Test them.{again}")
            ),
        ]
    );
}

#[test]
fn every_problem_of_an_answer_is_told_at_once() {
    let prompt = json!({
        "notes": "required", "produces": {"command": "string"}, "control": {"loop_id": "fix"},
        "validate": [{"one": {"demand": {"contains": "cause"}, "message": "name the cause"}}],
        "outputs": [{"contract": "diagnosis", "required": true}],
    });
    let contracts = json!({"diagnosis": {"schema": {"type": "object"}, "example": {}}});
    let codes: Vec<String> = refused(&workflow(&prompt, &json!({ "contracts": contracts })), &json!({}))
        .into_iter()
        .map(|pair| pair.0)
        .collect();
    assert_eq!(codes, ["notes_missing", "validation", "artifact_missing", "artifact_missing", "var_missing"]);
}

#[test]
fn requirements_are_told_in_the_form_that_callers_know() {
    let mut workflow = assessed();
    overlay_prompt(
        &mut workflow,
        &json!({
            "notes": "required", "produces": {"command": "string"}, "outputs": [{"contract": "d", "required": true}],
        }),
    );
    let contract = json!({"schema": {"type": "object"}, "example": {}});
    workflow.contracts.insert("d".into(), serde_json::from_value(contract).expect("a contract"));
    let told = json!(requirements(&workflow, &workflow.steps[0]));
    assert_eq!(
        told,
        json!({
            "notes": true,
            "contracts": [{
                "ref": "d",
                "schema": {"type": "object", "properties": {"kind": {"const": "d"}}},
                "example": {"kind": "d"},
            }],
            "assessments": [{"id": "confidence", "dimensions": [
                {"id": "evidence", "levels": ["low", "High"]},
                {"id": "scope", "levels": ["narrow", "wide"], "required": false},
            ]}],
            "contextKeys": ["command"],
        })
    );
}

fn overlay_prompt(workflow: &mut Workflow, prompt: &Value) {
    let mut step = serde_json::to_value(&workflow.steps[0]).expect("JSON");
    overlay(&mut step["kind"], prompt);
    workflow.steps[0] = serde_json::from_value(step).expect("a step");
}

fn steps(text: &str) -> Vec<Step> {
    workflow(&json!({"body": {"text": text}}), &json!({})).steps
}

#[test]
fn a_list_of_primitives_is_refused_where_the_body_asks_for_parts() {
    let reason =
        refuse_primitives(&steps("Do {{item.title}} and {{item.detail}}."), "item", &[json!({}), json!("x")]);
    assert_eq!(
        reason,
        Err(Reason::new(
            "items_have_no_parts",
            "step `one` asks for `{{item.title}}`, but item 2 of the list is string (\"x\")",
            "make every item an object with what the steps ask for: `item.title`, `item.detail`"
        ))
    );
    let fine = [
        ("{{item}} {{items.title}} {{other.item.title}}", json!("x")),
        ("{{item.title | default(none)}}", json!("x")),
        ("{{item.length}}", json!("x")),
        ("{{item.0}}", json!([1])),
        ("{{item.title}}", json!({"other": 1})),
    ];
    for (text, item) in fine {
        assert_eq!(refuse_primitives(&steps(text), "item", &[item]), Ok(()), "{text}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        "[a-z.]{0,8}",
        Just("kind".to_owned()),
        Just("wr.assessment".to_owned()),
        Just("dimensions".to_owned()),
        Just("wr.loop_control".to_owned()),
        Just("decision".to_owned()),
        Just("evidence".to_owned()),
        ".{0,4}"
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        word.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(word.clone(), inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn any_payload_is_read_or_refused_with_a_remedy(payload in any_json()) {
        match Answer::from_payload(&payload) {
            Ok(answer) => {
                let canonical = answer.to_payload();
                prop_assert_eq!(Answer::from_payload(&canonical), Ok(answer));
            }
            Err(reasons) => prop_assert!(reasons.iter().all(|reason| !reason.fix.is_empty())),
        }
    }

    #[test]
    fn any_answer_is_accepted_or_refused_with_a_remedy(
        notes in prop::option::of(".{0,20}"),
        vars in prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..3),
        artifacts in prop::collection::vec(any_json(), 0..3),
    ) {
        let answer = Answer { notes, vars: vars.into_iter().collect(), artifacts };
        for workflow in [assessed(), with_contracts(&json!([{"contract": "diagnosis", "required": true, "into": "d"}])),
            workflow(&json!({"control": {"loop_id": "fix"}}), &declared())] {
            let vars = BTreeMap::new();
            match check(&workflow, &workflow.steps[0], &Scope::new(&vars), &answer) {
                Ok(accepted) => prop_assert!(accepted.unset.iter().all(|name| !accepted.set.contains_key(name))),
                Err(reasons) => prop_assert!(!reasons.is_empty() && reasons.iter().all(|reason| !reason.fix.is_empty())),
            }
        }
    }
}
