//! What must hold for every text that somebody calls a workflow file.

use std::sync::LazyLock;

use longhaul_core::workflow::compile::{Source, Sources, Syntax, compile};
use longhaul_core::workflow::diagnostic::Diagnostic;
use longhaul_core::workflow::library::BUNDLED;
use longhaul_core::workflow::{Workflow, document, preview};
use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::mutate::Pool;
use super::play::{Due, Play};

/// How many answers a workflow that compiled is tried with.
const ANSWERS: usize = 20;

/// One text of so many is compiled twice.
const CHECKED_TWICE: usize = 4;

/// The files of one format that mutations begin with.
pub(crate) struct Files {
    pub(crate) pool: LazyLock<Pool>,
}

static SOURCES: LazyLock<Sources> = LazyLock::new(|| {
    let routine = include_str!("../seeds/workrail/routine-small.json");
    let mut sources = Sources::default();
    for (name, text) in BUNDLED {
        let id = name.trim_end_matches(".yml").to_owned();
        sources.library.insert(id, source(text, Syntax::Yaml));
    }
    sources.library.insert("wr.routine-small".to_owned(), source(routine, Syntax::Json));
    sources
});

pub(crate) fn source(text: &str, syntax: Syntax) -> Source {
    Source { name: "fuzz".to_owned(), text: text.to_owned(), syntax }
}

/// A text that is known to be good.
pub(crate) fn parsed(text: &str, syntax: Syntax) -> Value {
    document::parse(text, syntax).expect("our own seed is well formed").to_json()
}

pub(crate) fn compiled(text: &str, syntax: Syntax) -> Workflow {
    let outcome = compile(&source(text, syntax), &SOURCES);
    outcome.value.unwrap_or_else(|| panic!("our own seed does not compile: {:#?}", outcome.diagnostics))
}

/// Bytes as a file: text as it stands, or choices behind a `!`.
pub(crate) fn run(bytes: &[u8], files: &Files) {
    if let Some(choices) = bytes.strip_prefix(b"!") {
        let mutated = files.pool.mutated(&mut Draw::new(choices)).to_string();
        judge(&mutated, Syntax::Json);
        judge(&mutated, Syntax::Yaml);
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        judge(text, Syntax::Yaml);
        judge(text, Syntax::Json);
    }
}

fn judge(text: &str, syntax: Syntax) {
    let source = source(text, syntax);
    let outcome = compile(&source, &SOURCES);
    if text.len().is_multiple_of(CHECKED_TWICE) {
        assert_eq!(outcome, compile(&source, &SOURCES), "compiling is deterministic");
    }
    assert_eq!(outcome.value.is_none(), outcome.diagnostics.iter().any(Diagnostic::is_error));
    for diagnostic in &outcome.diagnostics {
        assert!(text.get(diagnostic.span.clone()).is_some(), "no such place: {diagnostic:?}");
        let place = diagnostic.place(text);
        assert!(place.line > 0 && place.column > 0);
    }
    if let Some(workflow) = outcome.value {
        use_it(workflow);
    }
}

fn use_it(workflow: Workflow) {
    let pinned = serde_json::to_string(&workflow).expect("a workflow is plain data");
    let read: Workflow = serde_json::from_str(&pinned).expect("what was pinned can be read");
    assert_eq!(workflow, read, "what is pinned is what was compiled");
    for picture in [preview::text(&workflow), preview::svg_standalone(&workflow), preview::mermaid(&workflow)]
    {
        assert!(!picture.is_empty());
    }
    let Some(mut play) = Play::start(workflow, &Map::new()) else { return };
    for _ in 0..ANSWERS {
        match play.due() {
            Due::Answer => drop(play.answer(&json!({ "notes": "done" }))),
            Due::Work => play.work(&json!({ "outcome": "passed" })),
            Due::Gate => play.approve(),
            Due::Nothing => break,
        }
    }
}
