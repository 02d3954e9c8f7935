//! Every bundled workflow is walked by its scripts, from start to end.

use longhaul_events::Verdict;
use serde_json::{Value, json};

use super::play::Play;
use crate::workflow::compile::{Source, Sources, Syntax, compile};
use crate::workflow::library::BUNDLED;

fn sources() -> Sources {
    let mut sources = Sources::default();
    for (name, text) in BUNDLED {
        let id = name.trim_end_matches(".yml").to_owned();
        let source = Source { name: (*name).to_owned(), text: (*text).to_owned(), syntax: Syntax::Yaml };
        sources.library.insert(id, source);
    }
    sources
}

fn scripts() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/library/walks");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

fn play(script: &Value, path: &Value) {
    let sources = sources();
    let id = script["workflow"].as_str().unwrap();
    let outcome = compile(&sources.library[id], &sources);
    let workflow = outcome.value.unwrap_or_else(|| panic!("{id}: {:#?}", outcome.diagnostics));
    let mut play = Play::start(workflow, &path["vars"]);
    for answer in path["answers"].as_array().unwrap() {
        let wanted = answer["step"].as_str().unwrap();
        let about = format!("{id}, {}: {answer}", path["name"]);
        if answer.get("gate").is_some() || answer.get("confirm").is_some() {
            assert_eq!(play.at(), format!("gate:{wanted}"), "{about}");
            let word = answer.get("gate").or(answer.get("confirm")).unwrap();
            play.gate(if word == "approve" { Verdict::Approved } else { Verdict::Rejected });
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
}

#[test]
fn every_bundled_workflow_walks_its_scripts_to_the_end() {
    let scripts = scripts();
    assert!(scripts.len() >= BUNDLED.len(), "every bundled file has a script");
    for script in scripts {
        script["paths"].as_array().unwrap().iter().for_each(|path| play(&script, path));
    }
}
