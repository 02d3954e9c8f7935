//! Conditions over vars: data, judged with a reason.

mod judge;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use judge::equals;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Every one holds; also when there is none.
    All(Vec<Condition>),
    /// One holds; not when there is none.
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// Every comparison holds; without any the var is truthy.
    Var {
        path: String,
        tests: Vec<Test>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    Equals(Value),
    NotEquals(Value),
    Gt(Value),
    Gte(Value),
    Lt(Value),
    Lte(Value),
    In(Vec<Value>),
    Contains(Value),
    StartsWith(String),
    EndsWith(String),
    /// An ECMAScript pattern, judged within a limit of steps.
    Matches(String),
}

/// How a condition came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    pub holds: bool,
    /// Names the values that decided.
    pub because: String,
}

impl Condition {
    /// Every path that it looks at.
    pub fn paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        self.gather_paths(&mut paths);
        paths
    }

    fn gather_paths(&self, paths: &mut BTreeSet<String>) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.gather_paths(paths)),
            Self::Not(part) => part.gather_paths(paths),
            Self::Var { path, tests: _ } => {
                paths.insert(path.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
