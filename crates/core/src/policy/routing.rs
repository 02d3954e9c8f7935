//! Which phases a task goes through.

use serde_json::{Map, Value};

use super::facts::{Classification, Complexity, Maturity, Risk};
use super::settings::Family;
use super::{Given, Rule, Ruling, Table, TableView};

const ON: &str = "on";
const OFF: &str = "off";

pub(super) struct Case {
    classification: Classification,
    families: Vec<Family>,
    /// What the table of `shape` said.
    shaped: bool,
}

pub(super) fn rule(given: &Given<'_>) -> Ruling {
    let read = given.read("classification");
    let mut case = match read {
        Ok(classification) => {
            Case { classification, families: given.settings.review.families.clone(), shaped: false }
        }
        Err(because) => return everything(because),
    };
    case.shaped = SHAPE.ask(&case).decision == ON;
    let (phases, families) = (answers(PHASES, &case), answers(FAMILIES, &case));
    let on = |answers: &[(&'static str, Ruling)]| -> Map<String, Value> {
        answers.iter().map(|(name, ruling)| ((*name).to_owned(), (ruling.decision == ON).into())).collect()
    };
    let because: Vec<String> =
        phases.iter().chain(&families).map(|(name, ruling)| said(name, ruling)).collect();
    Ruling {
        decision: "route",
        because: because.join("; "),
        rules: phases.iter().chain(&families).flat_map(|(_, ruling)| ruling.rules.clone()).collect(),
        more: Map::from_iter([
            ("phases".to_owned(), on(&phases).into()),
            ("families".to_owned(), on(&families).into()),
        ]),
    }
}

fn answers(tables: &[(&'static str, Table<Case>)], case: &Case) -> Vec<(&'static str, Ruling)> {
    tables.iter().map(|(name, table)| (*name, table.ask(case))).collect()
}

fn said(name: &str, ruling: &Ruling) -> String {
    format!("{name} {}, {}", ruling.decision, ruling.because)
}

/// Where nothing is known about a task, nothing is left out, and a person looks first.
fn everything(because: String) -> Ruling {
    let all = |tables: &[(&'static str, Table<Case>)]| -> Map<String, Value> {
        tables.iter().map(|(name, _)| ((*name).to_owned(), true.into())).collect()
    };
    let more = Map::from_iter([
        ("phases".to_owned(), all(PHASES).into()),
        ("families".to_owned(), all(FAMILIES).into()),
    ]);
    Ruling { decision: super::PERSON, because, rules: vec!["routing:else".to_owned()], more }
}

pub(super) fn tables() -> Vec<TableView> {
    PHASES.iter().chain(FAMILIES).map(|(_, table)| table.view()).collect()
}

const PHASES: &[(&str, Table<Case>)] = &[
    ("discover", DISCOVER),
    ("shape", SHAPE),
    ("shape_gate", SHAPE_GATE),
    ("design", DESIGN),
    ("intent", INTENT),
    ("code", CODE),
];

const FAMILIES: &[(&str, Table<Case>)] =
    &[("correctness", CORRECTNESS), ("tests", TESTS), ("security", SECURITY), ("architecture", ARCHITECTURE)];

const CODE_COMPLETE: Rule<Case> = Rule {
    name: "code-complete",
    when: "the maturity is `code_complete`",
    decision: OFF,
    holds: |case| is(case, Maturity::CodeComplete),
};

const DISCOVER: Table<Case> = Table {
    name: "routing.discover",
    rules: &[
        CODE_COMPLETE,
        Rule {
            name: "idea",
            when: "the maturity is `idea`",
            decision: ON,
            holds: |case| is(case, Maturity::Idea),
        },
        Rule {
            name: "rough",
            when: "the maturity is `rough`, and the complexity is not `trivial`",
            decision: ON,
            holds: |case| {
                let more = case.classification.complexity > Complexity::Trivial;
                is(case, Maturity::Rough).filter(|_| more)
            },
        },
        Rule {
            name: "large",
            when: "the complexity is `large`, and the maturity is `specced`",
            decision: ON,
            holds: |case| {
                let large = case.classification.complexity == Complexity::Large;
                is(case, Maturity::Specced).filter(|_| large).map(|_| "it is large".to_owned())
            },
        },
        Rule { name: "known", when: "none of these", decision: OFF, holds: |case| Some(known(case)) },
    ],
};

const SHAPE: Table<Case> = Table {
    name: "routing.shape",
    rules: &[
        CODE_COMPLETE,
        Rule {
            name: "idea",
            when: "the maturity is `idea`",
            decision: ON,
            holds: |case| is(case, Maturity::Idea),
        },
        Rule {
            name: "rough",
            when: "the maturity is `rough`, and the complexity is `medium` or `large`",
            decision: ON,
            holds: |case| {
                let more = case.classification.complexity >= Complexity::Medium;
                is(case, Maturity::Rough).filter(|_| more)
            },
        },
        Rule { name: "said", when: "none of these", decision: OFF, holds: |case| Some(known(case)) },
    ],
};

const SHAPE_GATE: Table<Case> = Table {
    name: "routing.shape_gate",
    rules: &[
        Rule {
            name: "not-shaped",
            when: "nothing is shaped",
            decision: OFF,
            holds: |case| (!case.shaped).then(|| "nothing is shaped".to_owned()),
        },
        Rule {
            name: "idea",
            when: "the maturity is `idea`",
            decision: ON,
            holds: |case| is(case, Maturity::Idea),
        },
        Rule {
            name: "risky",
            when: "the risk is `high`",
            decision: ON,
            holds: |case| (case.classification.risk == Risk::High).then(|| "the risk is high".to_owned()),
        },
        Rule {
            name: "plain",
            when: "none of these (a spec with open questions still opens it)",
            decision: OFF,
            holds: |case| Some(format!("the risk is {}", case.classification.risk)),
        },
    ],
};

const DESIGN: Table<Case> = Table {
    name: "routing.design",
    rules: &[
        CODE_COMPLETE,
        Rule {
            name: "architecture",
            when: "it touches the architecture",
            decision: ON,
            holds: |case| {
                case.classification.touches_architecture.then(|| "it touches the architecture".to_owned())
            },
        },
        Rule {
            name: "ready",
            when: "the maturity is `ready`",
            decision: OFF,
            holds: |case| is(case, Maturity::Ready),
        },
        Rule {
            name: "large",
            when: "the complexity is `large`",
            decision: ON,
            holds: |case| {
                (case.classification.complexity == Complexity::Large).then(|| "it is large".to_owned())
            },
        },
        Rule {
            name: "risky",
            when: "the risk is `high`, and the complexity is `medium`",
            decision: ON,
            holds: |case| {
                let Classification { complexity, risk, .. } = case.classification;
                (risk == Risk::High && complexity == Complexity::Medium)
                    .then(|| "it is medium, and its risk high".to_owned())
            },
        },
        Rule {
            name: "small",
            when: "none of these",
            decision: OFF,
            holds: |case| Some(format!("it is {}", case.classification.complexity)),
        },
    ],
};

const INTENT: Table<Case> = Table {
    name: "routing.intent",
    rules: &[
        CODE_COMPLETE,
        Rule {
            name: "to-do",
            when: "none of these",
            decision: ON,
            holds: |_| Some("something will be written".to_owned()),
        },
    ],
};

const CODE: Table<Case> = Table {
    name: "routing.code",
    rules: &[
        CODE_COMPLETE,
        Rule {
            name: "to-do",
            when: "none of these",
            decision: ON,
            holds: |_| Some("something will be written".to_owned()),
        },
    ],
};

const CORRECTNESS: Table<Case> = Table {
    name: "routing.correctness",
    rules: &[Rule {
        name: "always",
        when: "always",
        decision: ON,
        holds: |_| Some("every change is reviewed for it".to_owned()),
    }],
};

const UNLISTED: Rule<Case> = Rule {
    name: "unlisted",
    when: "none of these",
    decision: OFF,
    holds: |_| Some("`policy.review.families` leaves it out".to_owned()),
};

const TESTS: Table<Case> = Table {
    name: "routing.tests",
    rules: &[
        Rule {
            name: "listed",
            when: "`policy.review.families` has `tests`",
            decision: ON,
            holds: |case| listed(case, Family::Tests),
        },
        UNLISTED,
    ],
};

const SECURITY: Table<Case> = Table {
    name: "routing.security",
    rules: &[
        Rule {
            name: "listed",
            when: "`policy.review.families` has `security`",
            decision: ON,
            holds: |case| listed(case, Family::Security),
        },
        Rule {
            name: "risky",
            when: "the risk is `high`",
            decision: ON,
            holds: |case| (case.classification.risk == Risk::High).then(|| "the risk is high".to_owned()),
        },
        UNLISTED,
    ],
};

const ARCHITECTURE: Table<Case> = Table {
    name: "routing.architecture",
    rules: &[
        Rule {
            name: "listed",
            when: "`policy.review.families` has `architecture`",
            decision: ON,
            holds: |case| listed(case, Family::Architecture),
        },
        Rule {
            name: "touched",
            when: "it touches the architecture",
            decision: ON,
            holds: |case| {
                case.classification.touches_architecture.then(|| "it touches the architecture".to_owned())
            },
        },
        UNLISTED,
    ],
};

fn is(case: &Case, maturity: Maturity) -> Option<String> {
    (case.classification.maturity == maturity).then(|| format!("the maturity is {maturity}"))
}

fn known(case: &Case) -> String {
    let Classification { complexity, maturity, .. } = case.classification;
    format!("it is {complexity}, and {maturity}")
}

fn listed(case: &Case, family: Family) -> Option<String> {
    case.families.contains(&family).then(|| format!("`policy.review.families` has `{}`", family.word()))
}
