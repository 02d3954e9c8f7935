//! The proof of a change: what was checked of it, by whom, on which files, and what came of each.
//!
//! Pure: made from values that are on record, shown in four forms, and judged by whoever gets it. Nothing that an
//! agent says of its own work may become an outcome here.

mod assemble;
mod carried;
mod judge;
mod render;
mod sources;
mod statement;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use assemble::{Record, assemble};
pub use carried::carried;
pub use judge::{Unfit, read};
pub use render::{REHEARSAL, markdown, text};
pub use sources::Sources;
pub use statement::{PREDICATE_TYPE, STATEMENT_TYPE, statement};

use crate::canonical;
pub use crate::policy::settings::Freshness;

/// The only form that there is so far.
pub const VERSION: u32 = 1;

/// Everything that is known of a change, bound to its files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub version: u32,
    #[serde(default)]
    pub task: Option<String>,
    /// The root session of the task.
    pub session: String,
    pub goal: String,
    /// Whoever did the work and the reviews only played a script.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    /// The commit that the work began at.
    pub start: String,
    /// The commit that the change was merged into for the checks.
    pub base: String,
    /// The commit that the task's checkout stood at, if it stood at one.
    #[serde(default)]
    pub head: Option<String>,
    /// The task's own files, those that nobody committed among them.
    pub tree: String,
    /// What the checks saw; none if nothing could be merged.
    #[serde(default)]
    pub merged_tree: Option<String>,
    /// The files that the change touches.
    pub files: Vec<String>,
    pub criteria: Vec<Criterion>,
    pub checks: Vec<CheckEntry>,
    pub reviews: Vec<Verdict>,
    pub audits: Vec<Verdict>,
    pub scope: Judgement,
    pub outcome: Outcome,
    pub because: String,
    /// SHA-256 of all the rest in its canonical form (RFC 8785).
    pub digest: String,
}

/// What something came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Passed,
    Failed,
    CouldNotRun,
    /// Nobody looked, and why that is in order.
    Skipped,
    /// Seen on other files, and why it holds for these too.
    Carried,
}

impl Outcome {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::CouldNotRun => "could_not_run",
            Self::Skipped => "skipped",
            Self::Carried => "carried",
        }
    }
}

/// An acceptance criterion, and whether it is met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    pub id: String,
    pub text: String,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
    pub evidence: Vec<Evidence>,
}

/// What somebody says of a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// A review (`review correctness`) or a check (`check test`).
    pub by: String,
    /// `met`, `not_met`, `unclear`, or the outcome of the check.
    pub says: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A check, and what it came to on the merge result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckEntry {
    pub name: String,
    pub outcome: Outcome,
    /// What exactly was seen: `flaky`, `empty`, `failing_before`, or as the outcome.
    pub seen: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// What another session said of the change: a review or an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The family of a review, or the workflow where it names none.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// As they were handed in.
    pub findings: Vec<Value>,
}

/// Whether the change stays within what was meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
    pub findings: Vec<Value>,
}

impl Proof {
    /// The digest that belongs to what is there.
    pub fn own_digest(&self) -> String {
        let mut value = serde_json::to_value(self).expect("its keys are strings");
        if let Value::Object(fields) = &mut value {
            fields.remove("digest");
        }
        canonical::hash(&value).map(|digest| digest.to_string()).unwrap_or_default()
    }

    /// The same with the digest that belongs to it.
    #[must_use]
    pub fn sealed(mut self) -> Self {
        self.digest = self.own_digest();
        self
    }

    /// As it is stored, and as `--format json` shows it.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("its keys are strings")
    }
}
