//! What a pipeline decides by: pure functions from typed values to a decision with its because.
//!
//! Each policy is one file with its table of rules; the first rule that holds decides, and what no rule covers is for a
//! person. A policy looks at nothing but its inputs and the settings that were pinned when the session started, so
//! nothing that an agent writes changes a rule. `docs/guide/policies.md` has the same tables, and a test compares both.

mod audits;
pub mod check_files;
pub mod dependencies;
pub mod facts;
pub mod glob;
mod intent;
mod merge;
mod protected;
mod recheck;
mod review;
mod routing;
mod scope;
pub mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use merge::keeping_label;
pub use settings::Settings;

/// Goes to a person. Every policy may say it.
pub const PERSON: &str = "person";

/// The policies that a step can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Which phases a task goes through.
    Routing,
    /// Whether what was changed is more than what was classified.
    Recheck,
    /// Whether somebody must look at what is about to be done.
    Intent,
    /// Whether the change stayed inside what was declared.
    Scope,
    /// What becomes of the findings of a review.
    Review,
    /// Which audits a change needs.
    Audits,
    /// Who may merge it.
    Merge,
}

/// One value that a policy looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input {
    pub name: &'static str,
    pub need: Need,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Always,
    Optional,
}

const fn always(name: &'static str) -> Input {
    Input { name, need: Need::Always }
}

const fn optional(name: &'static str) -> Input {
    Input { name, need: Need::Optional }
}

impl Policy {
    pub const ALL: [Self; 7] =
        [Self::Routing, Self::Recheck, Self::Intent, Self::Scope, Self::Review, Self::Audits, Self::Merge];

    /// The word that a step names it by.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Routing => "routing",
            Self::Recheck => "recheck",
            Self::Intent => "intent",
            Self::Scope => "scope",
            Self::Review => "review",
            Self::Audits => "audits",
            Self::Merge => "merge",
        }
    }

    /// What it looks at.
    pub const fn inputs(self) -> &'static [Input] {
        const CLASSIFICATION: Input = always("classification");
        const CHANGE: Input = always("change");
        match self {
            Self::Routing => const { &[CLASSIFICATION] },
            Self::Recheck => const { &[CLASSIFICATION, CHANGE, optional("last")] },
            Self::Audits => const { &[CLASSIFICATION, CHANGE, optional("review")] },
            Self::Intent => const { &[always("intent"), CLASSIFICATION] },
            Self::Scope => const { &[always("intent"), CHANGE] },
            Self::Review => {
                const {
                    &[
                        always("verdicts"),
                        optional("scope"),
                        optional("checks"),
                        optional("spec"),
                        optional("round"),
                        optional("last"),
                    ]
                }
            }
            Self::Merge => {
                const {
                    &[
                        CLASSIFICATION,
                        CHANGE,
                        always("proof"),
                        always("review"),
                        optional("audits"),
                        optional("labels"),
                    ]
                }
            }
        }
    }
}

/// What a policy says.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    pub decision: &'static str,
    pub because: String,
    /// Which rows of its tables held, as `table:rule`.
    pub rules: Vec<String>,
    /// What else those who come after it need.
    pub more: Map<String, Value>,
}

impl Ruling {
    /// As the var of the step holds it.
    pub fn value(self) -> Value {
        let Self { decision, because, rules, more } = self;
        let mut value = Map::new();
        value.insert("decision".to_owned(), decision.into());
        value.insert("because".to_owned(), because.into());
        value.insert("rules".to_owned(), rules.into());
        value.extend(more);
        Value::Object(value)
    }

    fn and(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

/// Asks a policy.
pub fn decide(policy: Policy, settings: &Settings, given: &Map<String, Value>) -> Ruling {
    let given = Given { settings, values: given };
    match policy {
        Policy::Routing => routing::rule(&given),
        Policy::Recheck => recheck::rule(&given),
        Policy::Intent => intent::rule(&given),
        Policy::Scope => scope::rule(&given),
        Policy::Review => review::rule(&given),
        Policy::Audits => audits::rule(&given),
        Policy::Merge => merge::rule(&given),
    }
}

/// What a policy is asked with.
struct Given<'g> {
    settings: &'g Settings,
    values: &'g Map<String, Value>,
}

impl Given<'_> {
    /// An input as what it must be; or why it cannot be read.
    fn read<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        match self.values.get(name) {
            None | Some(Value::Null) => Err(format!("`{name}` is not known")),
            Some(value) => {
                T::deserialize(value).map_err(|error| format!("`{name}` is not what it must be: {error}"))
            }
        }
    }

    /// The same of an input that may be left out.
    fn read_if_known<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<Option<T>, String> {
        match self.values.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.read(name).map(Some),
        }
    }
}

/// One row of a table.
struct Rule<C> {
    name: &'static str,
    /// When it holds, in the words of the guide.
    when: &'static str,
    decision: &'static str,
    /// The because, with the values at hand, if it holds.
    holds: fn(&C) -> Option<String>,
}

/// The rules of one question, in their order. The first that holds decides.
struct Table<C: 'static> {
    name: &'static str,
    rules: &'static [Rule<C>],
}

impl<C> Table<C> {
    fn ask(&self, case: &C) -> Ruling {
        let held = self.rules.iter().find_map(|rule| (rule.holds)(case).map(|because| (rule, because)));
        match held {
            Some((rule, because)) => Ruling {
                decision: rule.decision,
                because,
                rules: vec![format!("{}:{}", self.name, rule.name)],
                more: Map::new(),
            },
            None => self.uncovered("no rule covers this".to_owned()),
        }
    }

    /// What no rule covers, or cannot even be read.
    fn uncovered(&self, because: String) -> Ruling {
        Ruling { decision: PERSON, because, rules: vec![format!("{}:else", self.name)], more: Map::new() }
    }
}

impl<C> Table<C> {
    fn view(&self) -> TableView {
        let row = |rule: &Rule<C>| Row { rule: rule.name, when: rule.when, decision: rule.decision };
        TableView { name: self.name, rows: self.rules.iter().map(row).collect() }
    }
}

/// A table of rules, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableView {
    pub name: &'static str,
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub rule: &'static str,
    pub when: &'static str,
    pub decision: &'static str,
}

/// Every table, in the order of the guide.
pub fn tables() -> Vec<TableView> {
    let mut tables = routing::tables();
    tables.extend([recheck::TABLE.view(), intent::TABLE.view(), scope::TABLE.view(), review::TABLE.view()]);
    tables.extend(audits::tables());
    tables.push(merge::TABLE.view());
    tables
}
