//! Which audits a change needs.

use serde_json::{Map, Value};

use super::facts::{Change, Classification, Complexity, Risk};
use super::{Given, PERSON, Rule, Ruling, Table, TableView, protected};

const ON: &str = "on";
const OFF: &str = "off";

pub(super) struct Case {
    classification: Classification,
    change: Change,
    escalated: bool,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    let case = match read(given) {
        Ok(case) => case,
        // Where nobody can tell, every audit is made.
        Err(because) => {
            let all: Map<String, Value> =
                AUDITS.iter().map(|(name, _)| ((*name).to_owned(), true.into())).collect();
            let rules = vec!["audits:else".to_owned()];
            return Ruling { decision: PERSON, because, rules, more: Map::new() }.and("audits", all);
        }
    };
    let answers: Vec<(&str, Ruling)> = AUDITS.iter().map(|(name, table)| (*name, table.ask(&case))).collect();
    let wanted: Map<String, Value> =
        answers.iter().map(|(name, ruling)| ((*name).to_owned(), (ruling.decision == ON).into())).collect();
    let any = answers.iter().any(|(_, ruling)| ruling.decision == ON);
    let said: Vec<String> = answers
        .iter()
        .map(|(name, ruling)| format!("{name} {}, {}", ruling.decision, ruling.because))
        .collect();
    Ruling {
        decision: if any { "some" } else { "none" },
        because: said.join("; "),
        rules: answers.iter().flat_map(|(_, ruling)| ruling.rules.clone()).collect(),
        more: Map::new(),
    }
    .and("audits", wanted)
}

fn read(given: &Given<'_>) -> Result<Case, String> {
    let review = given.values.get("review").map(|review| &review["decision"]);
    let escalated = review.is_some_and(|decision| decision == "escalate" || decision == PERSON);
    Ok(Case { classification: given.read("classification")?, change: given.read("change")?, escalated })
}

pub(super) fn tables() -> Vec<TableView> {
    AUDITS.iter().map(|(_, table)| table.view()).collect()
}

const AUDITS: &[(&str, Table<Case>)] =
    &[("production", PRODUCTION), ("architecture", ARCHITECTURE), ("security", SECURITY)];

const ESCALATED: Rule<Case> = Rule {
    name: "escalated",
    when: "the review ended at `escalate` or `person`",
    decision: ON,
    holds: |case| case.escalated.then(|| "the review did not pass".to_owned()),
};

const NO_NEED: Rule<Case> = Rule {
    name: "no-need",
    when: "none of these",
    decision: OFF,
    holds: |case| {
        let Classification { complexity, risk, .. } = case.classification;
        Some(format!("it is {complexity} at {risk} risk"))
    },
};

const PRODUCTION: Table<Case> = Table {
    name: "audits.production",
    rules: &[
        ESCALATED,
        Rule {
            name: "risky",
            when: "the risk is `medium` or `high`",
            decision: ON,
            holds: |case| {
                let risk = case.classification.risk;
                (risk >= Risk::Medium).then(|| format!("the risk is {risk}"))
            },
        },
        NO_NEED,
    ],
};

const ARCHITECTURE: Table<Case> = Table {
    name: "audits.architecture",
    rules: &[
        ESCALATED,
        Rule {
            name: "touched",
            when: "it touches the architecture",
            decision: ON,
            holds: |case| {
                case.classification.touches_architecture.then(|| "it touches the architecture".to_owned())
            },
        },
        Rule {
            name: "large",
            when: "the complexity is `large`",
            decision: ON,
            holds: |case| {
                (case.classification.complexity == Complexity::Large).then(|| "it is large".to_owned())
            },
        },
        NO_NEED,
    ],
};

const SECURITY: Table<Case> = Table {
    name: "audits.security",
    rules: &[
        ESCALATED,
        Rule {
            name: "risky",
            when: "the risk is `high`",
            decision: ON,
            holds: |case| (case.classification.risk == Risk::High).then(|| "the risk is high".to_owned()),
        },
        Rule {
            name: "sensitive",
            when: "a changed path is about who may do what (`auth`, `login`, `token`, `crypt` and the like)",
            decision: ON,
            holds: |case| protected::in_group(&case.change, &protected::SENSITIVE),
        },
        Rule {
            name: "dependencies",
            when: "a file that names dependencies is changed",
            decision: ON,
            holds: |case| protected::in_group(&case.change, &protected::DEPENDENCIES),
        },
        NO_NEED,
    ],
};
