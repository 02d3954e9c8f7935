//! The bundled files are what the format promises, and the guide shows what compiles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::BUNDLED;
use crate::workflow::answer::{self, Answer};
use crate::workflow::compile::{Source, Sources, Syntax, compile};
use crate::workflow::scope::Scope;
use crate::workflow::{Step, StepKind, Workflow};

#[test]
fn every_file_of_the_library_is_offered_under_its_id() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    let offered: BTreeSet<String> = BUNDLED.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files.into_iter().filter(|name| name != "walks").collect::<BTreeSet<_>>(), offered);
    for (name, workflow) in compiled() {
        assert_eq!(name, format!("{}.yml", workflow.id));
    }
}

#[test]
fn the_library_compiles_without_an_error_or_a_warning() {
    for (name, text) in BUNDLED {
        assert_eq!(findings(name, text), [""; 0]);
    }
}

#[test]
fn no_bundled_workflow_but_a_pipeline_needs_a_workspace() {
    for (name, workflow) in compiled().into_iter().filter(|(name, _)| !name.starts_with("lh.pipeline.")) {
        for step in workflow.all_steps() {
            let needs = matches!(
                step.kind,
                StepKind::Run(_)
                    | StepKind::Gather(_)
                    | StepKind::Parallel(_)
                    | StepKind::Spawn(_)
                    | StepKind::Decide(_)
                    | StepKind::Deliver(_)
            );
            assert!(!needs, "{name}: {}", step.id);
        }
    }
}

/// The walks themselves are made where sessions are; here each answer is given to its step.
#[test]
fn every_scripted_answer_is_judged_as_its_walk_says() {
    for (_, workflow) in compiled() {
        for path in walks_of(&workflow.id).paths {
            give_answers(&workflow, path);
        }
    }
}

fn give_answers(workflow: &Workflow, path: WalkPath) {
    let mut vars: BTreeMap<String, Arc<Value>> =
        path.vars.into_iter().map(|(name, value)| (name, Arc::new(value))).collect();
    for scripted in path.answers {
        let place = format!("{}, {}, {}", workflow.id, path.name, scripted.step);
        let step = find(workflow, &scripted.step).unwrap_or_else(|| panic!("{place}: no such step"));
        if [&scripted.result, &scripted.results, &scripted.seen, &scripted.work].iter().any(|it| it.is_some())
        {
            assert!(!matches!(step.kind, StepKind::Prompt(_)), "{place}: the engine does this");
        } else if scripted.gate.is_some() {
            assert!(matches!(step.kind, StepKind::Gate(_)), "{place}");
        } else if scripted.confirm.is_some() {
            assert!(step.confirm.is_some(), "{place}");
        } else {
            let refused = scripted.refused;
            let judged = answer::check(workflow, step, &Scope::new(&vars), &scripted.answer());
            assert_eq!(judged.is_err(), refused, "{place}: {judged:?}");
            let set = judged.map(|accepted| accepted.set).unwrap_or_default();
            vars.extend(set.into_iter().map(|(name, value)| (name, Arc::new(value))));
        }
    }
    let may_be_skipped = |id: &String| find(workflow, id).is_some_and(|step| step.when.is_some());
    assert!(path.skipped.iter().all(may_be_skipped), "{}: {:?}", workflow.id, path.skipped);
}

#[test]
fn what_the_guide_shows_compiles() {
    let guide = include_str!("../../../../../docs/guide/workflows.md");
    let mut blocks = 0;
    for block in guide.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let whole = if block.starts_with("longhaul:") { block.to_owned() } else { around(block) };
        let errors: Vec<String> =
            findings("guide", &whole).into_iter().filter(|finding| finding.contains("Error")).collect();
        assert_eq!(errors, [""; 0], "{block}");
        blocks += 1;
    }
    assert!(blocks >= 9, "the guide shows one example for each kind of step");
}

/// A file around the steps of an example, with what such steps may name.
fn around(steps: &str) -> String {
    let steps = format!("  {}", steps.replace('\n', "\n  "));
    format!(
        "longhaul: 1\nid: guide.example\nname: Example\nversion: 1.0.0\n\
         vars:\n  goal: {{ type: string, required: true }}\n  risk: {{ enum: [low, high], default: low }}\n\
         \x20 plan: {{ type: object }}\n\
         contracts:\n  result:\n    type: object\n    required: [outcome]\n\
         \x20   properties: {{ outcome: {{ type: string }} }}\n    examples: [{{ outcome: passed }}]\n\
         steps:\n{steps}"
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Walks {
    workflow: String,
    paths: Vec<WalkPath>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WalkPath {
    name: String,
    vars: Map<String, Value>,
    answers: Vec<Scripted>,
    skipped: Vec<String>,
    #[serde(rename = "ends")]
    _ends: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scripted {
    step: String,
    notes: Option<String>,
    #[serde(default)]
    vars: Map<String, Value>,
    #[serde(default)]
    artifacts: Vec<Value>,
    #[serde(default)]
    refused: bool,
    gate: Option<String>,
    confirm: Option<String>,
    result: Option<Value>,
    results: Option<Value>,
    seen: Option<Value>,
    work: Option<Value>,
}

impl Scripted {
    fn answer(self) -> Answer {
        Answer { notes: self.notes, vars: self.vars, artifacts: self.artifacts }
    }
}

fn walks_of(id: &str) -> Walks {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library/walks");
    let text = std::fs::read_to_string(folder.join(format!("{id}.json"))).unwrap();
    let walks: Walks = serde_json::from_str(&text).unwrap();
    assert_eq!(walks.workflow, id);
    walks
}

fn compiled() -> Vec<(&'static str, Workflow)> {
    let compile = |(name, text): &(&'static str, &'static str)| {
        let outcome = compile(&source(name, text), &sources());
        (*name, outcome.value.unwrap_or_else(|| panic!("{name}: {:?}", outcome.diagnostics)))
    };
    BUNDLED.iter().map(compile).collect()
}

fn findings(name: &str, text: &str) -> Vec<String> {
    let outcome = compile(&source(name, text), &sources());
    let shown = outcome.diagnostics.iter().map(|finding| {
        let place = finding.place(text);
        format!("{name}:{}:{}: {:?}: {}", place.line, place.column, finding.severity, finding.message)
    });
    shown.collect()
}

fn sources() -> Sources {
    let library = BUNDLED.iter().map(|(name, text)| {
        let id = name.strip_suffix(".yml").expect("bundled files are YAML");
        (id.to_owned(), source(name, text))
    });
    Sources { library: library.collect(), ..Sources::default() }
}

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), text: text.to_owned(), syntax: Syntax::Yaml }
}

fn find<'a>(workflow: &'a Workflow, id: &str) -> Option<&'a Step> {
    workflow.all_steps().into_iter().find(|step| step.id == id)
}
