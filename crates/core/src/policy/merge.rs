//! Who may merge a change: the engine, a person, or nobody through us.

use serde_json::Value;

use super::facts::{AuditOutcome, Bump, Change, Classification};
use super::settings::MergeSettings;
use super::{Given, PERSON, Rule, Ruling, Table, protected};

const NEVER: &str = "never";
/// The label with which people keep a task for themselves.
const NEEDS_HUMAN: &str = "needs-human";

/// The label that keeps a change from being merged here, if it is among these.
pub fn keeping_label(labels: &[String]) -> Option<&str> {
    labels.iter().map(String::as_str).find(|label| label.eq_ignore_ascii_case(NEEDS_HUMAN))
}

pub(super) struct Case {
    classification: Classification,
    change: Change,
    proof: Value,
    review: Value,
    audits: Vec<Value>,
    labels: Vec<String>,
    settings: MergeSettings,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    match read(given) {
        Ok(case) => TABLE.ask(&case),
        Err(because) => TABLE.uncovered(because),
    }
}

fn read(given: &Given<'_>) -> Result<Case, String> {
    Ok(Case {
        classification: given.read("classification")?,
        change: given.read("change")?,
        proof: given.read("proof")?,
        review: given.read("review")?,
        audits: given.read_if_known("audits")?.unwrap_or_default(),
        labels: given.read_if_known("labels")?.unwrap_or_default(),
        settings: given.settings.merge.clone(),
    })
}

pub(super) const TABLE: Table<Case> = Table {
    name: "merge",
    rules: &[
        Rule {
            name: "needs-human",
            when: "the label `needs-human` is on it",
            decision: NEVER,
            holds: |case| keeping_label(&case.labels).map(|label| format!("the label `{label}` is on it")),
        },
        Rule {
            name: "empty",
            when: "nothing was changed",
            decision: NEVER,
            holds: |case| {
                let empty = case.change.is_empty || case.change.files.is_empty();
                empty.then(|| "nothing was changed".to_owned())
            },
        },
        Rule {
            name: "longhaul",
            when: "a path under `.longhaul/` is changed",
            decision: NEVER,
            holds: |case| protected::in_group(&case.change, &protected::LONGHAUL),
        },
        Rule {
            name: "instructions",
            when: "what agents are told is changed (AGENTS.md, CLAUDE.md and the like)",
            decision: NEVER,
            holds: |case| protected::in_group(&case.change, &protected::INSTRUCTIONS),
        },
        Rule {
            name: "ci",
            when: "continuous integration is changed",
            decision: NEVER,
            holds: |case| protected::in_group(&case.change, &protected::CI),
        },
        Rule {
            name: "hooks",
            when: "hooks are changed",
            decision: NEVER,
            holds: |case| protected::in_group(&case.change, &protected::HOOKS),
        },
        Rule {
            name: "schema",
            when: "a schema or a migration is changed",
            decision: NEVER,
            holds: |case| protected::in_group(&case.change, &protected::SCHEMA),
        },
        Rule {
            name: "workspace",
            when: "a path of `policy.merge.never` is changed",
            decision: NEVER,
            holds: |case| {
                let path = protected::touched(&case.change, &case.settings.never)?;
                Some(format!("`{path}` is changed, and `policy.merge.never` names it"))
            },
        },
        Rule {
            name: "major",
            when: "a dependency goes to another major version",
            decision: NEVER,
            holds: |case| case.change.dependencies.iter().flatten().find_map(major),
        },
        Rule {
            name: "disproved",
            when: "the proof failed",
            decision: NEVER,
            holds: |case| (case.proof["outcome"] == "failed").then(|| said("the proof failed", &case.proof)),
        },
        Rule {
            name: "unproved",
            when: "the proof did not pass",
            decision: NEVER,
            holds: |case| {
                let outcome = case.proof["outcome"].as_str().unwrap_or("unknown");
                let words = format!("the proof is `{outcome}`");
                (outcome != "passed").then(|| said(&words, &case.proof))
            },
        },
        Rule {
            name: "unreviewed",
            when: "the review did not pass",
            decision: PERSON,
            holds: |case| {
                let decision = case.review["decision"].as_str().unwrap_or("unknown");
                let words = format!("the review ended at `{decision}`");
                (decision != "pass").then(|| said(&words, &case.review))
            },
        },
        Rule {
            name: "audited",
            when: "an audit that was made is not `clean`, has a finding that blocks, or has no verdict",
            decision: PERSON,
            holds: |case| case.audits.iter().find_map(doubtful),
        },
        Rule {
            name: "checks",
            when: "a file is changed that decides how checks run, that a set-up command runs, or that lies beside what a check runs",
            decision: PERSON,
            holds: |case| {
                let beside = || {
                    let path = case.change.check_files.first()?;
                    Some(format!(
                        "`{path}` is changed: a check or a set-up command runs it, or what lies beside it"
                    ))
                };
                protected::in_group(&case.change, &protected::CHECKS).or_else(beside)
            },
        },
        Rule {
            name: "dependencies",
            when: "a file that names dependencies is changed, and nobody can tell which versions, or more than those",
            decision: PERSON,
            holds: |case| {
                let unknown = case.change.dependencies.is_none();
                protected::in_group(&case.change, &protected::DEPENDENCIES).filter(|_| unknown)
            },
        },
        Rule {
            name: "risk",
            when: "`policy.merge.auto` does not list its risk",
            decision: PERSON,
            holds: |case| {
                let risk = case.classification.risk;
                let listed = case.settings.auto.contains(&risk);
                (!listed).then(|| format!("the risk is {risk}, and `policy.merge.auto` does not list it"))
            },
        },
        Rule {
            name: "listed",
            when: "none of these",
            decision: "auto",
            holds: |case| {
                let risk = case.classification.risk;
                Some(format!("it is proved and reviewed, and `policy.merge.auto` lists risk {risk}"))
            },
        },
    ],
};

fn said(words: &str, value: &Value) -> String {
    match value["because"].as_str() {
        Some(because) => format!("{words}: {because}"),
        None => words.to_owned(),
    }
}

/// An audit as the result of a child session, or as it stands.
fn doubtful(entry: &Value) -> Option<String> {
    let who = entry["workflow"].as_str().unwrap_or("an audit");
    let result = if entry.get("workflow").is_some() { &entry["result"] } else { entry };
    match serde_json::from_value::<AuditOutcome>(result["verdict"].clone()) {
        Ok(AuditOutcome::Clean) => blocking(result).map(|finding| format!("`{who}` found: {finding}")),
        Ok(outcome @ (AuditOutcome::Concerns | AuditOutcome::Unsafe)) => {
            Some(format!("`{who}` says {outcome}"))
        }
        Err(_) => Some(format!("`{who}` has no verdict")),
    }
}

/// A finding counts whatever the word above it says.
fn blocking(result: &Value) -> Option<&str> {
    let findings = result["findings"].as_array().into_iter().flatten();
    let mut serious =
        findings.filter(|finding| finding["severity"] == "Critical" || finding["severity"] == "Major");
    serious.next().map(|finding| finding["evidence"].as_str().unwrap_or("something that blocks"))
}

/// Another major version, or one that cannot be read as a version. What is new or gone has no version to compare.
fn major(bump: &Bump) -> Option<String> {
    let (from, to) = (bump.from.as_deref()?, bump.to.as_deref()?);
    (!is_compatible(from, to)).then(|| format!("`{}` goes from {from} to {to}", bump.name))
}

/// Whether both are of one major version.
pub(super) fn is_compatible(from: &str, to: &str) -> bool {
    matches!((leading(from), leading(to)), (Some(from), Some(to)) if from == to)
}

/// What must not change: the first number that is not zero, and the zeros before it.
fn leading(version: &str) -> Option<Vec<u64>> {
    let digits = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let core = digits.split(['-', '+', ' ', ',']).next()?;
    let mut leading = Vec::new();
    for part in core.split('.') {
        let number: u64 = part.parse().ok()?;
        leading.push(number);
        if number != 0 {
            return Some(leading);
        }
    }
    Some(leading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_people_promise_them() {
        let goes = |from: &str, to: &str| {
            let (from, to) = (Some(from.to_owned()), Some(to.to_owned()));
            major(&Bump { name: "x".to_owned(), from, to }).is_some()
        };
        for (from, to) in
            [("1.2.3", "2.0.0"), ("0.4.1", "0.5.0"), ("0.0.3", "0.0.4"), ("1.0", "main"), ("v1", "v2")]
        {
            assert!(goes(from, to), "{from} {to}");
        }
        for (from, to) in [("1.2.3", "1.9.0"), ("0.4.1", "0.4.9"), ("^1.0", "1.5"), ("v2.0.0+a", "v2.1.0-b")]
        {
            assert!(!goes(from, to), "{from} {to}");
        }
    }
}
