//! What an agent hands in, and whether a step accepts it.

mod items;
mod requires;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::scope::Scope;
use super::{Step, Workflow};

pub use items::{FieldOfPrimitive, primitive_fields, refuse_primitives};
pub use requires::{ContractRequired, Requires, requirements};

/// An agent's answer to a prompt step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub notes: Option<String>,
    /// A null deletes.
    pub vars: Map<String, Value>,
    pub artifacts: Vec<Value>,
}

/// Why an answer was refused, in words that can be pasted back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub code: String,
    pub message: String,
    pub fix: String,
}

/// What an accepted answer changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accepted {
    pub set: BTreeMap<String, Value>,
    pub unset: Vec<String>,
    /// Whether the loop around the step goes on.
    pub control: Option<Decision>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Continue,
    Stop,
}

impl Answer {
    /// Reads what a caller sent. Every problem is told at once.
    pub fn from_payload(payload: &Value) -> Result<Self, Vec<Reason>> {
        let _ = payload;
        Ok(Self::default())
    }

    /// The one form of an answer, whatever aliases it was sent with. This is what is hashed.
    pub fn to_payload(&self) -> Value {
        Value::Object(Map::new())
    }
}

/// Says whether a prompt step accepts an answer, and what that changes. Every problem is told at once.
pub fn check(
    workflow: &Workflow,
    step: &Step,
    scope: &Scope<'_>,
    answer: &Answer,
) -> Result<Accepted, Vec<Reason>> {
    let _ = (workflow, step, scope, answer);
    Ok(Accepted::default())
}
