//! Every bundled workflow is walked by its scripts, from start to end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use longhaul_events::{Choice, SessionEvent, Verdict};
use serde_json::{Value, json};

use super::play::Play;
use crate::workflow::compile::{Source, Sources, Syntax, compile};
use crate::workflow::library::BUNDLED;
use crate::workflow::{StepKind, Workflow};

fn sources() -> Sources {
    let mut sources = Sources::default();
    for (name, text) in BUNDLED {
        let id = name.trim_end_matches(".yml").to_owned();
        let source = Source { name: (*name).to_owned(), text: (*text).to_owned(), syntax: Syntax::Yaml };
        sources.library.insert(id, source);
    }
    sources
}

static COMPILED: LazyLock<BTreeMap<String, Workflow>> = LazyLock::new(|| {
    let sources = sources();
    let compiled = |(id, source): (&String, &Source)| {
        let outcome = compile(source, &sources);
        (id.clone(), outcome.value.unwrap_or_else(|| panic!("{id}: {:#?}", outcome.diagnostics)))
    };
    sources.library.iter().map(compiled).collect()
});

fn scripts() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/library/walks");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn play(script: &Value, path: &Value) {
    let id = script["workflow"].as_str().unwrap();
    let mut play = Play::start(COMPILED[id].clone(), &path["vars"]);
    for answer in path["answers"].as_array().unwrap() {
        let wanted = answer["step"].as_str().unwrap();
        let about = format!("{id}, {}: {answer}", path["name"]);
        if answer.get("gate").is_some() || answer.get("confirm").is_some() {
            assert_eq!(play.at(), format!("gate:{wanted}"), "{about}");
            let word = answer.get("gate").or(answer.get("confirm")).unwrap();
            play.gate(if word == "approve" { Verdict::Approved } else { Verdict::Rejected });
            continue;
        }
        if let Some(result) = work_of(&play, answer) {
            assert_eq!(play.at(), format!("work:{wanted}"), "{about}");
            play.work(&result);
            continue;
        }
        assert_eq!(play.at(), wanted, "{about}");
        let mut payload = json!({});
        for key in ["notes", "vars", "artifacts"] {
            if let Some(value) = answer.get(key) {
                payload[key] = value.clone();
            }
        }
        let refused = answer.get("refused").is_some();
        assert_eq!(play.answer(&payload).is_err(), refused, "{about}: {:#?}", play.events.last());
    }
    let end = play.at();
    assert!(end.starts_with(path["ends"].as_str().unwrap()), "{id}, {}: ends as {end}", path["name"]);
    if end == "completed" && id.starts_with("lh.pipeline.") {
        let told: BTreeSet<&str> =
            path["skipped"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
        assert_eq!(passed_over(&play), told, "{id}, {}", path["name"]);
    }
}

/// What the runner saw, if the engine does this step itself.
fn work_of(play: &Play, answer: &Value) -> Option<Value> {
    if let Some(seen) = answer.get("seen") {
        return Some(json!({ "found": true, "value": seen }));
    }
    if let Some(result) = answer.get("work") {
        return Some(result.clone());
    }
    let wanted = || play.wanted_children();
    let results: Vec<(String, Value)> = match (answer.get("result"), answer.get("results")) {
        (Some(result), _) => wanted().into_iter().map(|workflow| (workflow, result.clone())).collect(),
        (None, Some(Value::Object(results))) => {
            let told: BTreeSet<&str> = results.keys().map(String::as_str).collect();
            let wanted = wanted();
            assert_eq!(wanted.iter().map(String::as_str).collect::<BTreeSet<_>>(), told, "{answer}");
            wanted.into_iter().map(|workflow| (workflow.clone(), results[&workflow].clone())).collect()
        }
        (None, _) => return None,
    };
    let child = |(workflow, result): (String, Value)| {
        hands_in(&workflow, &result);
        let outcome = if result.is_null() { "failed" } else { "completed" };
        json!({ "workflow": workflow, "session": null, "outcome": outcome, "result": result })
    };
    Some(json!({ "outcome": "passed", "children": results.into_iter().map(child).collect::<Vec<_>>() }))
}

/// What a script says that a workflow hands in fits what that workflow asks for.
fn hands_in(workflow: &str, result: &Value) {
    if result.is_null() {
        return;
    }
    let workflow = &COMPILED[workflow];
    let last = workflow.all_steps().into_iter().rev().find_map(|step| match &step.kind {
        StepKind::Prompt(prompt) => prompt.outputs.first().map(|output| output.contract.clone()),
        _ => None,
    });
    let contract = &workflow.contracts[&last.expect("a workflow below a pipeline hands something in")];
    assert_eq!(contract.check(result), Ok(()), "{}: {result}", workflow.id);
}

/// The steps that a false `when` passed over and that no visit reached.
fn passed_over(play: &Play) -> BTreeSet<&str> {
    let (mut over, mut reached) = (BTreeSet::new(), BTreeSet::new());
    for event in &play.events {
        let SessionEvent::WayChosen { considered, .. } = event else { continue };
        for one in considered {
            match one.choice {
                Choice::Skipped => drop(over.insert(one.step.0.as_str())),
                _ => drop(reached.insert(one.step.0.as_str())),
            }
        }
    }
    over.difference(&reached).copied().collect()
}

#[test]
fn every_bundled_workflow_walks_its_scripts_to_the_end() {
    let scripts = scripts();
    assert!(scripts.len() >= BUNDLED.len(), "every bundled file has a script");
    for script in scripts {
        script["paths"].as_array().unwrap().iter().for_each(|path| play(&script, path));
    }
}
