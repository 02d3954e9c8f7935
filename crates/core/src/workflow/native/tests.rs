//! Native files in, compiled workflows or located complaints out.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::workflow::compile::{Source, Sources, Syntax, compile};
use crate::workflow::condition::{Condition, Test};
use crate::workflow::diagnostic::{Outcome, Severity};
use crate::workflow::prompt::{Body, Control, LevelTest, Notes};
use crate::workflow::step::{Channel, ConfirmBy, LoopOver, OnMax, StepKind};
use crate::workflow::{VarType, VarWriter};

mod mistakes;
mod routines;
mod survives;

const WHOLE: &str = include_str!("tests/whole.yml");
const CHALLENGE: &str = include_str!("tests/challenge.yml");
const EMPTY: &str = "longhaul: 1\nid: lh.x\nname: X\nversion: 1.0.0\nsteps: [{ id: a, prompt: A }]\n";

fn source(name: &str, text: &str) -> Source {
    let syntax = if text.trim_start().starts_with('{') { Syntax::Json } else { Syntax::Yaml };
    Source { name: name.to_owned(), text: text.to_owned(), syntax }
}

fn library() -> Sources {
    let texts = [("lh.routine.challenge", CHALLENGE), ("lh.review", EMPTY), ("lh.audit", EMPTY)];
    let library = texts.map(|(id, text)| (id.to_owned(), source(&format!("{id}.yml"), text)));
    Sources { library: library.into(), bindings: BTreeMap::new() }
}

fn compiled(text: &str) -> Outcome<Workflow> {
    compile(&source("test.yml", text), &library())
}

/// The workflow, which must compile without a word.
fn clean(text: &str) -> Workflow {
    let outcome = compiled(text);
    assert_eq!(shown(&outcome, text), Vec::<String>::new());
    outcome.value.expect("there was no error")
}

/// `line:column message`, warnings marked.
fn shown<T>(outcome: &Outcome<T>, text: &str) -> Vec<String> {
    let line = |diagnostic: &crate::workflow::diagnostic::Diagnostic| {
        let place = diagnostic.place(text);
        let mark = if diagnostic.severity == Severity::Warning { "warning: " } else { "" };
        format!("{}:{} {mark}{}", place.line, place.column, diagnostic.message)
    };
    outcome.diagnostics.iter().map(line).collect()
}

/// A file with these steps.
fn with_steps(steps: &str) -> String {
    format!("longhaul: 1\nid: t.x\nname: X\nversion: 1.0.0\nsteps:\n{steps}")
}

fn step<'w>(workflow: &'w Workflow, id: &str) -> &'w Step {
    workflow.all_steps().into_iter().find(|step| step.id == id).expect("there is such a step")
}

fn prompt<'w>(workflow: &'w Workflow, id: &str) -> &'w crate::workflow::Prompt {
    let StepKind::Prompt(prompt) = &step(workflow, id).kind else { panic!("{id} is no prompt") };
    prompt
}

#[test]
fn a_file_with_everything_compiles_without_a_finding() {
    let workflow = clean(WHOLE);
    let kinds: Vec<&str> = workflow.steps.iter().map(|step| step.kind.word()).collect();
    assert_eq!(
        kinds,
        [
            "prompt", "routine", "prompt", "loop", "loop", "loop", "loop", "todo", "assess", "gather",
            "parallel", "parallel", "spawn", "gate", "gate", "gate", "decide", "deliver"
        ]
    );
    let budget = Budget { tokens: Some(400_000), time_ms: Some(2_700_000), money_micros: Some(1_500_000) };
    assert_eq!(workflow.budget, Some(budget));
    let names: Vec<&str> = workflow.contracts.keys().map(String::as_str).collect();
    assert_eq!(names, ["diagnosis", "loop_control", "plan", "review_verdict"]);
}

#[test]
fn what_a_delivery_cannot_do_is_refused_with_what_to_write() {
    for (settings, told) in [
        ("{ pull_request: later }", "`pull_request` of `deliver` cannot be \"later\""),
        ("{ merge: always }", "`merge` of `deliver` cannot be \"always\""),
        ("{ comment: true }", "`comment` of `deliver` cannot be true"),
        ("{ commit: [a] }", "`commit` of `deliver` cannot be [\"a\"]"),
        ("{ close: soon }", "`close` of `deliver` cannot be \"soon\""),
    ] {
        let text = with_steps(&format!("  - {{ id: ship, deliver: {settings} }}\n"));
        let found = shown(&compiled(&text), &text);
        assert!(found.iter().any(|line| line.contains(told)), "{settings}: {found:?}");
    }
}

#[test]
fn compiling_twice_gives_the_same_bytes_in_both_syntaxes() {
    let as_json = document_as_json(WHOLE);
    let texts = [WHOLE, WHOLE, &as_json];
    let bytes = texts.map(|text| serde_json::to_string(&clean(text)).unwrap());
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(bytes[0], bytes[2]);
    let back: Workflow = serde_json::from_str(&bytes[0]).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), bytes[0]);
}

fn document_as_json(text: &str) -> String {
    let node = crate::workflow::document::parse(text, Syntax::Yaml).unwrap();
    serde_json::to_string_pretty(&node.to_json()).unwrap()
}

#[test]
fn the_bundled_workflows_compile_without_a_finding() {
    let files = crate::workflow::library::BUNDLED;
    let library =
        files.iter().map(|(name, text)| (name.trim_end_matches(".yml").to_owned(), source(name, text)));
    let sources = Sources { library: library.collect(), bindings: BTreeMap::new() };
    for (name, text) in files {
        let outcome = compile(&source(name, text), &sources);
        assert_eq!(shown(&outcome, text), Vec::<String>::new(), "{name}");
        assert_eq!(outcome.value.expect("no error").id, name.trim_end_matches(".yml"));
    }
}

#[test]
fn vars_are_what_is_declared_produced_put_out_and_counted() {
    let Vars::Declared(vars) = clean(WHOLE).vars else { panic!("native files declare their vars") };
    let writer = |name: &str| vars[name].writer;
    for agent in ["risk", "head", "failing_command", "hunch"] {
        assert_eq!(writer(agent), VarWriter::Agent, "{agent}");
    }
    for engine in
        ["goal", "diagnosis", "plan", "checks", "iteration", "slice", "slice_index", "item", "pitch", "audit"]
    {
        assert_eq!(writer(engine), VarWriter::Engine, "{engine}");
    }
    assert_eq!(vars["risk"].kind, VarType::Enum(vec![json!("low"), json!("high")]));
    assert_eq!((vars["goal"].required, vars["risk"].default.clone()), (true, Some(json!("low"))));
}

#[test]
fn notes_are_wanted_unless_an_artifact_stands_for_them() {
    let workflow = clean(&with_steps(
        "- { id: a, prompt: A }\n- { id: b, prompt: B, output: { type: object } }\n- { id: c, prompt: C, output: { type: object }, notes: required }\n- { id: d, prompt: D, notes: none }\n",
    ));
    let notes = ["a", "b", "c", "d"].map(|id| prompt(&workflow, id).notes);
    assert_eq!(notes, [Notes::Required, Notes::Optional, Notes::Required, Notes::None]);
    assert_eq!(prompt(&workflow, "b").outputs[0].into.as_deref(), Some("b"));
}

#[test]
fn a_control_artifact_decides_about_the_loop_that_listens() {
    let workflow = clean(WHOLE);
    assert_eq!(prompt(&workflow, "relook").control, Some(Control { loop_id: "polish".into() }));
    assert!(prompt(&workflow, "relook").outputs[0].required);
    assert_eq!(prompt(&workflow, "enough").control, Some(Control { loop_id: "slices".into() }));
    assert!(!prompt(&workflow, "enough").outputs[0].required);
}

#[test]
fn defaults_are_those_of_the_guide() {
    let workflow = clean(&with_steps(concat!(
        "- { id: frame-gate, gate: { by: person } }\n",
        "- { id: r, run: { command: [ls] } }\n",
        "- { id: s, run: { checks: [lint] } }\n",
        "- { id: l, loop: { while: { var: goal }, max: 2 }, steps: [{ id: b, prompt: B, confirm: true }] }\n",
    )));
    let StepKind::Gate(gate) = &step(&workflow, "frame-gate").kind else { panic!() };
    assert_eq!(
        (gate.question.as_str(), gate.accepts, gate.timeout_ms),
        ("Frame gate", Channel::Terminal, 604_800_000)
    );
    let runs = ["r", "s"].map(|id| match &step(&workflow, id).kind {
        StepKind::Run(run) => (run.timeout_ms, run.rerun),
        other => panic!("{other:?}"),
    });
    assert_eq!(runs, [(600_000, false), (600_000, true)]);
    let StepKind::Loop(repeat) = &step(&workflow, "l").kind else { panic!() };
    assert_eq!((repeat.on_max, repeat.iteration_var.as_str()), (OnMax::Park, "iteration"));
    let confirm = step(&workflow, "b").confirm.as_ref().unwrap();
    assert_eq!((confirm.by, confirm.accepts), (ConfirmBy::Person, Some(Channel::Client)));
}

#[test]
fn lists_have_an_item_an_index_and_a_bound() {
    let workflow = clean(WHOLE);
    let StepKind::Loop(repeat) = &step(&workflow, "each").kind else { panic!() };
    let over = LoopOver::Items {
        list: "plan.slices".into(),
        item_var: "slice".into(),
        index_var: "slice_index".into(),
    };
    assert_eq!((&repeat.over, repeat.max), (&over, 1000));
    let StepKind::Todo(todo) = &step(&workflow, "slices").kind else { panic!() };
    assert_eq!((todo.item_var.as_str(), todo.index_var.as_str(), todo.max), ("item", "item_index", 1000));
}

#[test]
fn an_assessment_is_a_prompt_with_levels_and_rules() {
    let workflow = clean(WHOLE);
    let assess = prompt(&workflow, "confidence");
    let assessment = &assess.assessments[0];
    assert_eq!(assessment.id, "confidence");
    assert_eq!(assessment.consequences[0].when, LevelTest::Any("low".into()));
    assert_eq!(
        assessment.consequences[1].when,
        LevelTest::Dimension { id: "scope".into(), level: "wide".into() }
    );
    let Body::Text(text) = &assess.body else { panic!() };
    assert!(text.contains("- evidence: low, medium, high"), "{text}");
}

#[test]
fn conditions_keep_every_comparison() {
    let workflow = clean(&with_steps(
        "- { id: a, prompt: A, when: { any: [{ var: goal.length, gt: 1, lte: 9, not: 5 }, { not: { var: goal, in: [a, 1] } }] } }\n",
    ));
    let all = Condition::Var {
        path: "goal.length".into(),
        tests: vec![Test::NotEquals(json!(5)), Test::Gt(json!(1)), Test::Lte(json!(9))],
    };
    let not = Condition::Var { path: "goal".into(), tests: vec![Test::In(vec![json!("a"), json!(1)])] };
    assert_eq!(step(&workflow, "a").when, Some(Condition::Any(vec![all, Condition::Not(Box::new(not))])));
}

#[test]
fn contracts_may_refer_to_one_another() {
    let diagnosis = &clean(WHOLE).contracts["diagnosis"];
    assert!(diagnosis.check(&json!({ "cause": "x", "evidence": ["y"] })).is_ok());
    assert!(diagnosis.check(&json!({ "cause": "x", "evidence": [""] })).is_err());
    assert!(diagnosis.check(&diagnosis.example).is_ok());
}

#[test]
fn slots_take_what_the_workspace_binds() {
    let mut sources = library();
    sources.library.insert("team.review".into(), source("team.review.yml", EMPTY));
    sources.bindings.insert("reviewer".into(), "team.review".into());
    let workflow = compile(&source("whole.yml", WHOLE), &sources).value.unwrap();
    let StepKind::Parallel(parallel) = &step(&workflow, "reviewers").kind else { panic!() };
    assert_eq!(parallel.children[0].workflow, "team.review");
}

#[test]
fn the_schema_takes_the_file_with_everything_and_the_bundled_ones() {
    let contract = Contract { kind: None, schema: schema(), example: serde_json::Value::Null };
    let bundled = crate::workflow::library::BUNDLED.iter().map(|(_, text)| *text);
    for text in bundled.chain([WHOLE, CHALLENGE]) {
        let value = crate::workflow::document::parse(text, Syntax::Yaml).unwrap().to_json();
        assert_eq!(contract.check(&value).map_err(|problems| format!("{problems:?}")), Ok(()));
    }
    let wrong = json!({ "longhaul": 1, "id": "a", "name": "A", "version": "1.0.0", "steps": [{ "id": "a", "promt": "x" }] });
    assert!(contract.check(&wrong).is_err());
}

/// Every key the reader asks for is in the schema, and every key of the schema is asked for.
#[test]
fn the_schema_and_the_reader_know_the_same_keys() {
    fn properties<'s>(schema: &'s serde_json::Value, found: &mut std::collections::BTreeSet<&'s str>) {
        match schema {
            serde_json::Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
            serde_json::Value::Object(map) => {
                if let Some(serde_json::Value::Object(own)) = map.get("properties") {
                    found.extend(own.keys().map(String::as_str));
                }
                map.values().for_each(|value| properties(value, found));
            }
            _ => {}
        }
    }
    let schema = schema();
    let mut declared = std::collections::BTreeSet::new();
    properties(&schema, &mut declared);
    let asked = crate::workflow::compile::asked_keys(&source("whole.yml", WHOLE), &library());
    assert_eq!(declared, asked);
}
