//! Real files, where they are at hand.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::source;
use crate::workflow::Workflow;
use crate::workflow::compile::{Sources, compile};
use crate::workflow::diagnostic::Outcome;

/// Names and texts; none, with a word about it, where the files are not there.
fn corpus() -> Vec<(String, String)> {
    let given = std::env::var_os("LONGHAUL_CORPUS").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/workrail");
    let folder = given.unwrap_or(beside);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: there are no WorkRail files in {}; set LONGHAUL_CORPUS", folder.display());
        return Vec::new();
    };
    let paths: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let json = paths.into_iter().filter(|path| path.extension().is_some_and(|it| it == "json"));
    json.map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap())).collect()
}

fn library(files: &[(String, String)]) -> Sources {
    let mut sources = Sources::default();
    for (name, text) in files {
        let root: Value = serde_json::from_str(text).unwrap();
        let id = root["id"].as_str().unwrap().to_owned();
        sources.library.insert(id, source(name, text.clone()));
    }
    sources
}

pub(crate) fn outcomes() -> Vec<(String, String, Outcome<Workflow>)> {
    let files = corpus();
    let sources = library(&files);
    let compiled = files.into_iter().map(|(name, text)| {
        let outcome = compile(&source(&name, text.clone()), &sources);
        (name, text, outcome)
    });
    compiled.collect()
}

#[test]
fn every_real_file_compiles_and_warns_only_of_what_no_source_has() {
    for (name, _, outcome) in outcomes() {
        assert!(outcome.value.is_some(), "{name}: {:#?}", outcome.diagnostics);
        for diagnostic in outcome.diagnostics {
            let expected =
                ["no loaded source has", "does not use `deliverableName`", "is not a path, so it stays"];
            assert!(
                expected.iter().any(|words| diagnostic.message.contains(words)),
                "{name}: {diagnostic:#?}"
            );
            assert!(diagnostic.fix.is_some() && !diagnostic.span.is_empty(), "{name}: {diagnostic:#?}");
        }
    }
}

#[test]
fn every_real_file_fits_the_schema_of_the_format() {
    let schema = super::super::schema::schema();
    let contract = crate::workflow::contract::Contract { kind: None, schema, example: Value::Null };
    for (name, text) in corpus() {
        let root: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(contract.check(&root), Ok(()), "{name}");
    }
}

#[test]
fn every_text_of_every_real_file_is_in_the_compiled_form() {
    for (name, text, outcome) in outcomes() {
        let root: Value = serde_json::from_str(&text).unwrap();
        let workflow = serde_json::to_value(outcome.value.unwrap()).unwrap();
        assert_eq!(super::everything::lost_texts(&root, &workflow), [], "{name}");
    }
}

#[test]
fn compiling_a_real_file_twice_gives_the_same() {
    assert_eq!(
        outcomes().into_iter().map(|it| it.2).collect::<Vec<_>>(),
        outcomes().into_iter().map(|it| it.2).collect::<Vec<_>>()
    );
}
