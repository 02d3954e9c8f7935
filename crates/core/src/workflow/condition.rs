//! Conditions over vars: data, judged with a reason.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
