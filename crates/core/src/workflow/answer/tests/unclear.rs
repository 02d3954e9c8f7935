//! Artifacts that are right but not told apart, wrapped, or written as a text.

use serde_json::json;

use super::super::super::render;
use super::artifacts::with_contracts;
use super::*;

fn one() -> Workflow {
    with_contracts(&json!([{"contract": "diagnosis", "required": true, "into": "d"}]))
}

#[track_caller]
fn only(workflow: &Workflow, payload: &Value) -> Reason {
    let mut reasons = checked(workflow, &json!({}), payload).expect_err("it should be refused");
    assert_eq!(reasons.len(), 1, "{reasons:#?}");
    reasons.remove(0)
}

#[test]
fn an_artifact_in_an_object_of_its_own_name_is_to_be_taken_out() {
    for artifact in
        [json!({"diagnosis": {"cause": "x"}}), json!({"kind": "diagnosis", "diagnosis": {"cause": "x"}})]
    {
        let reason = only(&one(), &json!({ "artifacts": [artifact] }));
        assert_eq!(
            reason,
            Reason::new(
                "artifact_wrapped",
                "`diagnosis` is wrapped in an object with its own name",
                "take off the outer `diagnosis` and hand in what is inside it"
            )
        );
    }
}

#[test]
fn artifacts_that_do_not_say_what_they_are_are_to_be_marked() {
    let two = with_contracts(&json!([
        {"contract": "diagnosis", "required": true}, {"contract": "wr.contracts.verdict", "required": true},
    ]));
    let reason = only(&two, &json!({"artifacts": [{"cause": "x"}, {"verdict": "clean"}]}));
    assert_eq!(
        (reason.message.as_str(), reason.fix.as_str()),
        (
            "there are 2 artifacts that do not say which of several things they are",
            "several artifacts; mark yours with `kind`: `\"kind\": \"diagnosis\"`, `\"kind\": \"wr.verdict\"`"
        )
    );
    let reason = only(&one(), &json!({"artifacts": [{"cause": "x"}, {"cause": "y"}]}));
    assert_eq!(reason.message, "there are 2 artifacts, and none says that it is the one");
    accepted(&two, &json!({"artifacts": [{"kind": "diagnosis", "cause": "x"}, {"verdict": "clean"}]}));
}

#[test]
fn a_value_is_handed_in_and_not_its_text() {
    let fix = "hand in the value, not its JSON text: without the quotes around it";
    let reason = only(&one(), &json!({"artifacts": ["{\"cause\": \"x\"}"]}));
    assert_eq!((reason.message.as_str(), reason.fix.as_str()), ("artifact 1 is a text that holds JSON", fix));
    let reasons = Answer::from_payload(&json!({"vars": "{\"a\": 1}", "artifacts": "[]"})).unwrap_err();
    assert_eq!(reasons.iter().map(|reason| reason.fix.as_str()).collect::<Vec<_>>(), [fix, fix]);
    let text = workflow(
        &json!({"outputs": [{"contract": "text", "required": true, "into": "t"}]}),
        &json!({"contracts": {"text": {"schema": {"type": "string"}, "example": "text"}}}),
    );
    assert_eq!(accepted(&text, &json!({"artifacts": ["{}"]})).set["t"], "{}");
}

#[test]
fn a_kind_that_is_another_is_refused_and_never_kept() {
    let reason = only(&one(), &json!({"artifacts": [{"kind": "result", "cause": "x"}]}));
    assert_eq!(
        (reason.message.as_str(), reason.fix.as_str()),
        (
            "the artifact says `\"kind\": \"result\"`, and the step asks for `diagnosis`",
            "write `\"kind\": \"diagnosis\"`, or leave `kind` out"
        )
    );
    let open = workflow(
        &json!({"outputs": [{"contract": "any", "required": true, "into": "a"}]}),
        &json!({"contracts": {"any": {"schema": {"type": "object"}, "example": {"x": 1}}}}),
    );
    assert_eq!(only(&open, &json!({"artifacts": [{"kind": "stray", "x": 1}]})).code, "wrong_kind");
    assert_eq!(accepted(&open, &json!({"artifacts": [{"kind": "any", "x": 1}]})).set["a"], json!({"x": 1}));
}

#[test]
fn a_step_with_several_contracts_says_how_to_mark_them() {
    let two = with_contracts(&json!([
        {"contract": "diagnosis", "required": true}, {"contract": "wr.contracts.verdict", "required": true},
    ]));
    let text = shown(&two);
    assert!(text.contains("Mark it with `\"kind\": \"diagnosis\"`"), "{text}");
    assert!(!shown(&one()).contains("`\"kind\""), "{}", shown(&one()));
}

#[test]
fn an_assessment_is_accepted_as_it_is_printed() {
    let workflow = assessed();
    let text = shown(&workflow);
    let printed = text.rsplit("```json\n").next().and_then(|rest| rest.split("\n```").next()).unwrap();
    let printed: Value = serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    accepted(&workflow, &json!({ "artifacts": [printed] }));
    assert!(text.contains("a level may also stand alone (`\"evidence\": \"…\"`)"), "{text}");
}

fn shown(workflow: &Workflow) -> String {
    let vars = BTreeMap::new();
    let scope = Scope::new(&vars);
    render::step(workflow, &workflow.steps[0], &scope, render::Opening::Later).prompt
}
