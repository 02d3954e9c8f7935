//! Which artifact is taken for what, and what is said of the others.

use serde_json::{Value, json};

use super::super::super::Workflow;
use super::*;

pub(super) fn with_contracts(outputs: &Value) -> Workflow {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["cause"], "properties": {"cause": {"type": "string"}},
    });
    let verdict = json!({
        "type": "object", "required": ["kind", "verdict"],
        "properties": {"kind": {"const": "wr.verdict"}, "verdict": {"enum": ["clean", "dirty"]}},
    });
    let contracts = json!({
        "diagnosis": {"schema": schema, "example": {"cause": "text"}},
        "wr.contracts.verdict": {"kind": "wr.verdict", "schema": verdict, "example": {"kind": "wr.verdict", "verdict": "clean"}},
    });
    workflow(&json!({ "outputs": outputs }), &json!({ "contracts": contracts }))
}

#[test]
fn an_artifact_is_found_by_its_kind_by_its_contract_or_because_it_is_the_only_one() {
    let workflow = with_contracts(&json!([{"contract": "diagnosis", "required": true, "into": "diagnosis"}]));
    for artifact in [json!({"cause": "x"}), json!({"kind": "diagnosis", "cause": "x"})] {
        let taken = accepted(&workflow, &json!({ "artifacts": [artifact] }));
        assert_eq!(json!(taken.set), json!({"diagnosis": {"cause": "x"}}));
    }
    let workflow =
        with_contracts(&json!([{"contract": "wr.contracts.verdict", "required": true, "into": "v"}]));
    for kind in [json!({"kind": "wr.verdict"}), json!({})] {
        let mut artifact = kind;
        artifact["verdict"] = json!("clean");
        let taken = accepted(&workflow, &json!({ "artifacts": [artifact] }));
        assert_eq!(json!(taken.set), json!({"v": {"kind": "wr.verdict", "verdict": "clean"}}));
    }
}

#[test]
fn several_artifacts_are_told_apart_and_the_rest_is_named() {
    let workflow = with_contracts(&json!([
        {"contract": "diagnosis", "required": true, "into": "d"},
        {"contract": "wr.contracts.verdict", "required": false, "into": "v"},
    ]));
    let taken = accepted(
        &workflow,
        &json!({"artifacts": [{"kind": "wr.verdict", "verdict": "clean"}, {"cause": "x"}, {"kind": "wr.assessment"}]}),
    );
    assert_eq!(
        json!(taken.set),
        json!({"d": {"cause": "x"}, "v": {"kind": "wr.verdict", "verdict": "clean"}})
    );
    assert_eq!(
        taken.warnings,
        ["artifact 3 (`wr.assessment`) is not what this step asks for; it changes nothing"]
    );
    assert_eq!(
        refused(
            &workflow,
            &json!({"artifacts": [{"kind": "diagnosis", "cause": "x"}, {"kind": "diagnosis", "cause": "y"}]})
        ),
        pairs(&[("artifact_twice", "there are 2 artifacts for `diagnosis`")])
    );
}

#[test]
fn a_missing_artifact_comes_with_an_example_that_is_accepted() {
    let workflow = with_contracts(&json!([
        {"contract": "diagnosis", "required": true}, {"contract": "wr.contracts.verdict", "required": true},
    ]));
    let reasons = checked(&workflow, &json!({}), &json!({})).expect_err("both are missing");
    let examples: Vec<Value> = reasons
        .iter()
        .map(|reason| {
            let (_, example) = reason.fix.split_once("your own values: ").expect("an example");
            serde_json::from_str(example).expect("JSON that can be pasted")
        })
        .collect();
    accepted(&workflow, &json!({ "artifacts": examples }));
}

#[test]
fn an_artifact_that_does_not_fit_is_refused_with_its_place() {
    let workflow = with_contracts(&json!([{"contract": "diagnosis", "required": true}]));
    let reasons = checked(&workflow, &json!({}), &json!({"artifacts": [{"cause": 5, "more": 1}]}))
        .expect_err("it is wrong");
    assert!(reasons.iter().all(|reason| reason.code == "artifact_does_not_fit"), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.message.contains("`/cause`")), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.message.contains("more")), "{reasons:?}");
}

#[test]
fn a_contract_that_nobody_knows_is_a_warning() {
    let workflow =
        workflow(&json!({"outputs": [{"contract": "wr.contracts.other", "required": true}]}), &json!({}));
    let taken = accepted(&workflow, &json!({}));
    assert_eq!(
        taken.warnings,
        ["the contract `wr.contracts.other` is not known, so nothing was checked against it"]
    );
}

#[test]
fn a_control_artifact_decides_about_its_own_loop_only() {
    let workflow = workflow(&json!({"control": {"loop_id": "fix"}}), &json!({}));
    let control = |more: Value| {
        let mut artifact = json!({"kind": "wr.loop_control"});
        overlay(&mut artifact, &more);
        json!({ "artifacts": [artifact] })
    };
    let decided = |more: Value| accepted(&workflow, &control(more)).control;
    assert_eq!(decided(json!({"decision": "stop"})), Some(Decision::Stop));
    assert_eq!(
        decided(json!({"decision": " Continue", "loopId": "fix", "metadata": {"reason": "x"}})),
        Some(Decision::Continue)
    );
    assert_eq!(
        accepted(&workflow, &json!({"artifacts": [{"decision": "stop"}]})).control,
        Some(Decision::Stop)
    );
    assert_eq!(
        refused(&workflow, &control(json!({"decision": "stop", "loopId": "other"}))),
        pairs(&[(
            "artifact_for_another",
            "the decision about loop `fix` is missing: `loopId` is `other`, wanted `fix`"
        )])
    );
    assert_eq!(
        refused(&workflow, &control(json!({"decision": "halt"}))),
        pairs(&[("no_decision", r#"`decision` is string ("halt"), not `continue` or `stop`"#)])
    );
    assert_eq!(
        refused(&workflow, &control(json!({}))),
        pairs(&[("no_decision", "`decision` is missing, not `continue` or `stop`")])
    );
    assert_eq!(
        refused(&workflow, &json!({})),
        pairs(&[("artifact_missing", "the decision about loop `fix` is missing")])
    );
}

#[test]
fn a_control_artifact_where_nothing_is_to_be_decided_changes_nothing() {
    let workflow = workflow(&json!({}), &json!({}));
    let taken = accepted(&workflow, &json!({"artifacts": [{"kind": "wr.loop_control", "decision": "stop"}]}));
    assert_eq!(taken.control, None);
    assert_eq!(
        taken.warnings,
        ["artifact 1 (`wr.loop_control`) is not what this step asks for; it changes nothing"]
    );
}
