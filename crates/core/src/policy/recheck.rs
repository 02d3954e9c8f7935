//! Whether what was changed is more than what was classified. It only ever goes up.

use serde::Deserialize;
use serde_json::{Value, json};

use super::facts::{Change, Classification, Complexity, Risk};
use super::{Given, PERSON, Rule, Ruling, Table, protected};

pub(super) struct Case {
    said: Classification,
    seen: Classification,
    because: Vec<String>,
}

#[derive(Deserialize)]
struct Last {
    classification: Classification,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    match read(given) {
        Ok(case) => {
            let seen = json!(case.seen);
            TABLE.ask(&case).and("classification", seen)
        }
        // What cannot be read is taken for the worst that it could be.
        Err(because) => TABLE.uncovered(because).and("classification", worst()),
    }
}

fn read(given: &Given<'_>) -> Result<Case, String> {
    let mut said: Classification = given.read("classification")?;
    // What was raised before was seen by whoever had to see it.
    if let Some(last) = given.read_if_known::<Last>("last")? {
        said.complexity = said.complexity.max(last.classification.complexity);
        said.risk = said.risk.max(last.classification.risk);
    }
    let change: Change = given.read("change")?;
    let ((complexity, size), (risk, touched)) = (size(&change), danger(&change));
    let mut seen = said.clone();
    let mut because = Vec::new();
    if complexity > said.complexity {
        seen.complexity = complexity;
        because.push(format!("{size} is {complexity}, and it was called {}", said.complexity));
    }
    if risk > said.risk {
        seen.risk = risk;
        because.push(format!("{touched}, and its risk was called {}", said.risk));
    }
    if !because.is_empty() {
        seen.because = because.join("; ");
    }
    Ok(Case { said, seen, because })
}

/// From so many files or lines on, a change is at least this complex.
const SIZES: [(Complexity, usize, u64); 3] =
    [(Complexity::Large, 40, 1500), (Complexity::Medium, 12, 400), (Complexity::Small, 3, 60)];

fn size(change: &Change) -> (Complexity, String) {
    // A file that was moved is one file, and has two rows.
    let (files, lines) = (change.files.iter().filter(|file| file.to.is_none()).count(), change.lines);
    let reached = SIZES.iter().find(|(_, most_files, most_lines)| files > *most_files || lines > *most_lines);
    (reached.map_or(Complexity::Trivial, |(size, ..)| *size), format!("{files} files and {lines} lines"))
}

/// From so many deleted files on, the risk is at least medium.
const MANY_DELETED: usize = 10;

fn danger(change: &Change) -> (Risk, String) {
    if let Some(because) = protected::NEVER.iter().find_map(|group| protected::in_group(change, group)) {
        return (Risk::High, because);
    }
    let is_gone = |file: &&super::facts::ChangedFile| {
        file.status == super::facts::FileStatus::Deleted && file.to.is_none()
    };
    let deleted = change.files.iter().filter(is_gone).count();
    if deleted >= MANY_DELETED {
        return (Risk::Medium, format!("{deleted} files are deleted"));
    }
    match protected::in_group(change, &protected::DEPENDENCIES) {
        Some(because) => (Risk::Medium, because),
        None => (Risk::Low, String::new()),
    }
}

fn worst() -> Value {
    json!({
        "complexity": "large", "risk": "high", "maturity": "idea", "hasUI": true, "touchesArchitecture": true,
        "because": "it could not be read",
    })
}

pub(super) const TABLE: Table<Case> = Table {
    name: "recheck",
    rules: &[
        Rule {
            name: "far-beyond",
            when: "complexity or risk is two levels or more above what was said",
            decision: PERSON,
            holds: |case| far_beyond(case).then(|| case.because.join("; ")),
        },
        Rule {
            name: "beyond",
            when: "one of them is above what was said",
            decision: "raise",
            holds: |case| (!case.because.is_empty()).then(|| case.because.join("; ")),
        },
        Rule {
            name: "as-said",
            when: "none of these",
            decision: "keep",
            holds: |case| {
                Some(format!("it is no more than {} at {} risk", case.said.complexity, case.said.risk))
            },
        },
    ],
};

fn far_beyond(case: &Case) -> bool {
    let complexity = case.seen.complexity as u8 - case.said.complexity as u8;
    let risk = case.seen.risk as u8 - case.said.risk as u8;
    complexity >= 2 || risk >= 2
}
