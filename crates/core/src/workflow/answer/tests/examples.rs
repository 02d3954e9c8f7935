//! What a caller is shown as an example is accepted when it is pasted back.

use serde_json::{Map, Value, json};

use super::super::super::compile::{Source, Sources, Syntax, compile};
use super::super::super::contract;
use super::super::super::library::BUNDLED;
use super::super::super::prompt::Notes;
use super::super::super::workrail::tests::corpus::outcomes;
use super::super::super::{StepKind, Workflow};
use super::*;

/// Hands in the examples of every step: all at once, and only those of what is required.
fn paste_examples(name: &str, workflow: &Workflow) -> usize {
    let mut pasted = 0;
    for step in workflow.all_steps() {
        let mut step = step.clone();
        let StepKind::Prompt(prompt) = &mut step.kind else { continue };
        // Only artifacts are the matter here.
        prompt.notes = Notes::Optional;
        prompt.validate.clear();
        prompt.produces.clear();
        let control = prompt.control.as_ref().map(|control| control.loop_id.clone());
        let wanted = requirements(workflow, &step);
        pasted += wanted.contracts.len();
        for skips_optional in [false, true] {
            let chosen = wanted.contracts.iter().filter(|contract| contract.required || !skips_optional);
            let mut artifacts: Vec<Value> = chosen.map(|contract| contract.example.clone()).collect();
            let has = |artifacts: &[Value], field: &str, id: &str| artifacts.iter().any(|it| it[field] == id);
            for assessment in &wanted.assessments {
                if !has(&artifacts, "assessmentId", &assessment.id) {
                    artifacts.push(quiet(&step, &assessment.id));
                }
            }
            if let Some(id) = control.as_ref().filter(|id| !has(&artifacts, "loopId", id)) {
                artifacts.push(json!({ "kind": "wr.loop_control", "loopId": id, "decision": "stop" }));
            }
            let answer = Answer { artifacts, ..Answer::default() };
            let judged = check(workflow, &step, &Scope::new(&BTreeMap::new()), &answer);
            let accepted = judged.unwrap_or_else(|reasons| panic!("{name}, {}: {reasons:#?}", step.id));
            assert_eq!(accepted.warnings, [""; 0], "{name}, {}", step.id);
        }
    }
    pasted
}

/// An assessment of levels that nothing follows from.
fn quiet(step: &Step, id: &str) -> Value {
    let StepKind::Prompt(prompt) = &step.kind else { panic!("only prompts assess") };
    let assessment = prompt.assessments.iter().find(|assessment| assessment.id == id).unwrap();
    let asked: Vec<String> = serde_json::to_value(&assessment.consequences)
        .map(|value| levels_in(&value))
        .expect("consequences are data");
    let level = |levels: &[String]| levels.iter().find(|level| !asked.contains(level)).unwrap().clone();
    let dimensions: Map<String, Value> =
        assessment.dimensions.iter().map(|one| (one.id.clone(), json!(level(&one.levels)))).collect();
    json!({ "kind": "wr.assessment", "assessmentId": id, "dimensions": dimensions })
}

fn levels_in(consequences: &Value) -> Vec<String> {
    let tests = consequences.as_array().into_iter().flatten().map(|consequence| &consequence["when"]);
    let level =
        |test: &Value| test["any"].as_str().or(test["dimension"]["level"].as_str()).map(str::to_owned);
    tests.filter_map(level).collect()
}

fn source(text: &str) -> Source {
    Source { name: "test".to_owned(), text: text.to_owned(), syntax: Syntax::Yaml }
}

#[test]
fn every_example_of_the_library_is_accepted_as_pasted() {
    let id = |name: &str| name.strip_suffix(".yml").unwrap().to_owned();
    let library = BUNDLED.iter().map(|(name, text)| (id(name), source(text))).collect();
    let sources = Sources { library, ..Sources::default() };
    let pasted = BUNDLED.iter().map(|(name, text)| {
        paste_examples(name, &compile(&source(text), &sources).value.expect("the library compiles"))
    });
    assert!(pasted.sum::<usize>() > 20);
}

#[test]
fn every_example_of_the_public_files_is_accepted_as_pasted() {
    for (name, _, outcome) in outcomes() {
        paste_examples(&name, &outcome.value.unwrap());
    }
}

/// Contracts that are hard to tell apart: lists, texts, kinds of their own, the same one twice.
#[test]
fn examples_of_contracts_that_cannot_be_named_are_accepted_as_pasted() {
    let made = |schema: Value| serde_json::to_value(contract::of_schema(&schema).unwrap()).unwrap();
    let contracts = json!({
        "closed": made(json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}},
            "additionalProperties": false, "maxProperties": 1})),
        "open": made(json!({"type": "object"})),
        "list": made(json!({"type": "array", "items": {"type": "string"}, "minItems": 1})),
        "words": made(json!({"type": "string"})),
        "sorted": made(json!({"type": "object", "required": ["kind"], "properties": {"kind": {"enum": ["x", "y"]}}})),
        "maybe": made(json!({"type": "object", "required": ["b"], "properties": {"kind": {"enum": ["x"]}, "b": {"type": "integer"}}})),
        "constant": made(json!({"type": "object", "properties": {"kind": {"const": "of.its.own"}}})),
        "shown": made(json!({"type": "object", "examples": [{"kind": "z", "c": 1}]})),
    });
    let names = ["closed", "open", "list", "words", "sorted", "maybe", "constant", "shown"];
    let root = json!({ "contracts": contracts });
    for first in names {
        for second in names {
            for required in [[true, true], [false, true], [true, false]] {
                let outputs = json!([{"contract": first, "required": required[0], "into": "one"},
                    {"contract": second, "required": required[1], "into": "two"}]);
                let assessments = json!([{"id": "doubt", "dimensions": [{"id": "d", "levels": ["low", "high"],
                    "required": true}], "consequences": [{"when": {"any": "low"}, "then": {"guidance": "more"}}]}]);
                for prompt in [
                    json!({"outputs": outputs}),
                    json!({"outputs": outputs, "assessments": assessments, "control": {"loop_id": "again"}}),
                ] {
                    let workflow = workflow(&prompt, &root);
                    assert_eq!(paste_examples(&format!("{first}, {second}"), &workflow), 2);
                }
            }
        }
    }
}

#[test]
fn a_caller_can_judge_the_example_by_the_schema_beside_it() {
    let closed = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}},
        "additionalProperties": false});
    let made = serde_json::to_value(contract::of_schema(&closed).unwrap()).unwrap();
    let outputs = json!([{"contract": "one", "required": true}, {"contract": "two", "required": true}]);
    let root = json!({ "contracts": { "one": made, "two": made } });
    let workflow = workflow(&json!({ "outputs": outputs }), &root);
    for wanted in requirements(&workflow, &workflow.steps[0]).contracts {
        assert_eq!(wanted.example["kind"], json!(wanted.reference));
        let judge = contract::of_schema(&wanted.schema).unwrap();
        assert_eq!(judge.check(&wanted.example), Ok(()));
    }
}

#[test]
fn an_example_of_an_assessment_has_levels_that_nothing_follows_from() {
    let made = serde_json::to_value(contract::builtin("wr.contracts.assessment")).unwrap();
    let prompt = json!({
        "outputs": [{"contract": "wr.contracts.assessment", "required": true}],
        "assessments": [{"id": "doubt", "dimensions": [{"id": "d", "levels": ["low", "high"], "required": true}],
            "consequences": [{"when": {"dimension": {"id": "d", "level": "low"}}, "then": {"guidance": "more"}}]}],
    });
    let workflow = workflow(&prompt, &json!({ "contracts": { "wr.contracts.assessment": made } }));
    let wanted = requirements(&workflow, &workflow.steps[0]);
    assert_eq!(wanted.contracts[0].example["dimensions"]["d"]["level"], "high");
    assert_eq!(wanted.assessments[0].example["dimensions"]["d"]["level"], "high");
    accepted(&workflow, &json!({ "artifacts": [wanted.contracts[0].example] }));
}
