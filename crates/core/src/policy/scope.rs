//! Whether the change stayed inside what was declared.

use serde_json::{Value, json};

use super::facts::{Change, Intent};
use super::{Given, Rule, Ruling, Table, glob, protected};

pub(super) struct Case {
    outside: Vec<String>,
    files: usize,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    match read(given) {
        Ok(case) => {
            let findings: Vec<Value> = case.outside.iter().map(|path| finding(path)).collect();
            TABLE.ask(&case).and("findings", findings)
        }
        Err(because) => TABLE.uncovered(because).and("findings", Vec::<Value>::new()),
    }
}

fn read(given: &Given<'_>) -> Result<Case, String> {
    let (intent, change): (Intent, Change) = (given.read("intent")?, given.read("change")?);
    let mut outside: Vec<String> =
        change.paths().filter(|path| !declared(&intent, path)).map(str::to_owned).collect();
    // A file that was moved is told with both its paths, and where it was by itself.
    outside.sort();
    outside.dedup();
    Ok(Case { outside, files: change.files.len() })
}

/// What protects others must be named by its path: no pattern lets it in by the way.
fn declared(intent: &Intent, path: &str) -> bool {
    let named = intent.expected_files.iter().any(|file| file.trim_start_matches("./") == path);
    let as_side_effect = intent.side_effects.iter().any(|effect| mentions(effect, path));
    let in_scope = intent.scope.iter().any(|pattern| glob::fits(pattern, path));
    named || as_side_effect || (in_scope && !protected::is_never(path))
}

/// Whether a text has the path as a word of its own.
fn mentions(text: &str, path: &str) -> bool {
    let edge = |letter: char| letter.is_whitespace() || "`'\"()[]{}<>,;:".contains(letter);
    text.split(edge).any(|word| word.trim_end_matches('.') == path)
}

fn finding(path: &str) -> Value {
    let severity = if protected::is_never(path) { "Critical" } else { "Major" };
    json!({
        "severity": severity,
        "category": "scope",
        "file": path,
        "evidence": format!("`{path}` is changed, and neither the scope nor the side effects of the intent name it"),
        "fix": format!("take the change of `{path}` back"),
    })
}

pub(super) const TABLE: Table<Case> = Table {
    name: "scope",
    rules: &[
        Rule {
            name: "protected",
            when: "a path that never merges by itself is changed, and the intent does not name it by its path",
            decision: "outside",
            holds: |case| {
                let path = case.outside.iter().find(|path| protected::is_never(path))?;
                Some(format!("`{path}` never merges by itself, and the intent does not name it"))
            },
        },
        Rule {
            name: "undeclared",
            when: "another path is changed that neither scope, expected files nor side effects name",
            decision: "outside",
            holds: |case| {
                let path = case.outside.first()?;
                let more = case.outside.len() - 1;
                let more = if more == 0 { String::new() } else { format!(", and {more} more") };
                Some(format!("`{path}` lies outside of what was declared{more}"))
            },
        },
        Rule {
            name: "declared",
            when: "none of these",
            decision: "inside",
            holds: |case| {
                Some(match case.files {
                    1 => "the only changed file was declared".to_owned(),
                    several => format!("all {several} changed files were declared"),
                })
            },
        },
    ],
};
