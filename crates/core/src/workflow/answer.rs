//! What an agent hands in, and whether a step accepts it.
//!
//! Nothing here stops at the first problem: an agent that is refused learns everything that is missing at once.

mod artifacts;
mod assessed;
mod check;
mod items;
mod limits;
mod payload;
mod requires;
mod rules;
mod unclear;
mod vars;
mod want;

use std::collections::BTreeMap;

pub use longhaul_events::Reason;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use check::{check, check_vars};
pub(crate) use vars::word as type_word;

pub use items::{ItemField, primitive_fields, refuse_primitives};
pub(crate) use limits::judge_vars;
pub use limits::{MOST_ARTIFACT_BYTES, MOST_DEPTH, MOST_NOTES_BYTES, MOST_VARS_BYTES, judge_text};
pub use requires::{
    AssessmentRequired, ContractRequired, DimensionRequired, NotesRequired, Requires, requirements,
};

/// An agent's answer to a prompt step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    pub notes: Option<String>,
    /// A null deletes.
    pub vars: Map<String, Value>,
    pub artifacts: Vec<Value>,
}

/// What an accepted answer changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accepted {
    pub set: BTreeMap<String, Value>,
    pub unset: Vec<String>,
    /// Whether the loop around the step goes on, where the step decides that.
    pub control: Option<Decision>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Continue,
    Stop,
}

#[cfg(test)]
mod tests;
