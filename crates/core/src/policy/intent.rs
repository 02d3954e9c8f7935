//! Whether somebody must look at what is about to be done.

use super::facts::{Classification, Confidence, Intent, Risk};
use super::settings::IntentGate;
use super::{Given, PERSON, Rule, Ruling, Table, glob};

/// Shorter than this, an interpretation says no more than the goal did.
const LEAST_WORDS: usize = 4;

pub(super) struct Case {
    intent: Intent,
    classification: Classification,
    gate: IntentGate,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    match read(given) {
        Ok(case) => TABLE.ask(&case),
        Err(because) => TABLE.uncovered(because),
    }
}

fn read(given: &Given<'_>) -> Result<Case, String> {
    Ok(Case {
        intent: given.read("intent")?,
        classification: given.read("classification")?,
        gate: given.settings.intent_gate,
    })
}

pub(super) const TABLE: Table<Case> = Table {
    name: "intent",
    rules: &[
        Rule {
            name: "destructive",
            when: "`is_destructive`, whatever `policy.intent_gate` says",
            decision: PERSON,
            holds: |case| case.intent.is_destructive.then(|| "it says that it is destructive".to_owned()),
        },
        Rule {
            name: "always",
            when: "`policy.intent_gate` is `always`",
            decision: PERSON,
            holds: |case| {
                (case.gate == IntentGate::Always).then(|| "`policy.intent_gate` is `always`".to_owned())
            },
        },
        Rule {
            name: "never",
            when: "`policy.intent_gate` is `never`",
            decision: "go",
            holds: |case| {
                (case.gate == IntentGate::Never).then(|| "`policy.intent_gate` is `never`".to_owned())
            },
        },
        Rule {
            name: "unsure",
            when: "`confidence` is `low`",
            decision: PERSON,
            holds: |case| {
                (case.intent.confidence == Confidence::Low).then(|| "its confidence is low".to_owned())
            },
        },
        Rule {
            name: "said-too-little",
            when: "the interpretation has fewer than four words",
            decision: PERSON,
            holds: said_too_little,
        },
        Rule {
            name: "unbounded",
            when: "the scope is empty or names everything (`**`)",
            decision: PERSON,
            holds: unbounded,
        },
        Rule {
            name: "no-files",
            when: "no file is expected to change",
            decision: PERSON,
            holds: |case| {
                case.intent.expected_files.is_empty().then(|| "it expects no file to change".to_owned())
            },
        },
        Rule {
            name: "outside-itself",
            when: "an expected file lies outside the scope",
            decision: PERSON,
            holds: outside_itself,
        },
        Rule {
            name: "risky",
            when: "the risk is `high` and `confidence` is not",
            decision: PERSON,
            holds: |case| {
                let doubtful =
                    case.classification.risk == Risk::High && case.intent.confidence != Confidence::High;
                doubtful.then(|| format!("the risk is high and its confidence {}", case.intent.confidence))
            },
        },
        Rule {
            name: "clear",
            when: "none of these",
            decision: "go",
            holds: |case| Some(format!("it is bounded, and its confidence {}", case.intent.confidence)),
        },
    ],
};

fn said_too_little(case: &Case) -> Option<String> {
    let words = case.intent.interpretation.split_whitespace().count();
    (words < LEAST_WORDS).then(|| format!("its interpretation has {words} words"))
}

fn unbounded(case: &Case) -> Option<String> {
    if case.intent.scope.is_empty() {
        return Some("it names no scope".to_owned());
    }
    let everything = case.intent.scope.iter().find(|pattern| glob::is_everything(pattern));
    everything.map(|pattern| format!("its scope `{pattern}` bounds nothing"))
}

fn outside_itself(case: &Case) -> Option<String> {
    let inside = |path: &&String| case.intent.scope.iter().any(|pattern| glob::fits(pattern, path));
    let outside = case.intent.expected_files.iter().find(|path| !inside(path));
    outside.map(|path| format!("it expects `{path}` to change, which its scope leaves out"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use crate::policy::{Policy, Settings, decide};

    fn given(intent: Value) -> Map<String, Value> {
        let classification = json!({
            "complexity": "small", "risk": "low", "maturity": "ready", "hasUI": false,
            "touchesArchitecture": false, "because": "one function",
        });
        Map::from_iter([("intent".to_owned(), intent), ("classification".to_owned(), classification)])
    }

    #[test]
    fn what_cannot_be_read_is_for_a_person() {
        let ruling = decide(Policy::Intent, &Settings::default(), &given(Value::Null));
        assert_eq!((ruling.decision, ruling.because.as_str()), ("person", "`intent` is not known"));
        let ruling = decide(Policy::Intent, &Settings::default(), &given(json!({ "scope": "all of it" })));
        assert_eq!(ruling.decision, "person");
        assert!(ruling.because.starts_with("`intent` is not what it must be: "), "{}", ruling.because);
    }
}
