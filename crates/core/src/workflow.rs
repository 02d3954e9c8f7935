//! The workflow language: two front ends, one compiled form.
//!
//! A compiled workflow is plain data. It says everything the engine needs, so a session pins it by hash and
//! never looks at the file again. Nothing here reads files: sources are given.

pub mod allowance;
pub mod answer;
#[cfg(test)]
pub(crate) mod arbitrary;
pub mod compile;
pub mod condition;
pub mod contract;
pub mod diagnostic;
pub mod document;
pub mod features;
pub mod fields;
pub mod library;
pub mod native;
pub mod pattern;
mod pin;
pub mod preview;
pub mod prompt;
pub mod render;
pub mod schema;
pub mod scope;
pub mod step;
pub mod suggest;
pub mod template;
mod until;
pub mod workrail;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use condition::Condition;
pub use contract::Contract;
pub use prompt::Prompt;
pub use step::{Step, StepKind};
pub use until::NoSuchPhase;

/// The longest list of steps in one file, before routines are expanded.
pub const MOST_STEPS: usize = 500;
/// How deep steps may lie in one another.
pub const MOST_LEVELS: usize = 16;
/// The largest `max` of a loop.
pub const MOST_ITERATIONS: u64 = 1_000_000;
/// How often a step may be refused before it is blocked, unless it says otherwise.
pub const DEFAULT_ATTEMPTS: u32 = 10;

/// A compiled workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workflow {
    pub format: Format,
    pub id: String,
    pub name: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What it is for, in the author's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    #[serde(default, skip_serializing_if = "Catalog::is_empty")]
    pub catalog: Catalog,
    pub vars: Vars,
    /// Given at the start and on resume.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    /// Given at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<String>,
    /// Questions to settle at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelTier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Preferences>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Every contract that a step names, by that name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contracts: BTreeMap<String, Contract>,
    /// Every workflow that its steps can lead to, by id: resolved when a session starts, and by nothing later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub below: BTreeMap<String, Workflow>,
    pub steps: Vec<Step>,
}

/// The front end that a workflow came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Native,
    WorkRail,
}

/// What the catalog shows beside the name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Catalog {
    pub description: String,
    pub examples: Vec<String>,
    pub metrics_profile: Option<String>,
    pub validated_against: Option<String>,
    /// What a workspace may put in place of a default of its author's.
    pub slots: Vec<Slot>,
}

/// A place for which a workspace may name a routine or workflow of its own. Filled when the file is compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    pub default: String,
    /// `routine`, `workflow`; none said means both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<String>,
}

impl Catalog {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which vars an agent may set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vars {
    /// Any: WorkRail files declare none.
    Open,
    /// These only.
    Declared(BTreeMap<String, VarDeclaration>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VarDeclaration {
    pub kind: VarType,
    /// Must be given at the start.
    #[serde(default)]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// Whether an agent may set it. Outputs and results of the engine's own steps are not an agent's to set.
    pub writer: VarWriter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VarWriter {
    Agent,
    /// Set from an accepted artifact or from the result of an engine step.
    Engine,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VarType {
    Any,
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
    Enum(Vec<serde_json::Value>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelTier {
    Light,
    Standard,
    Heavy,
}

impl ModelTier {
    /// What people write for each.
    pub const WORDS: [(&'static str, Self); 3] =
        [("light", Self::Light), ("standard", Self::Standard), ("heavy", Self::Heavy)];

    /// As files and people write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Standard => "standard",
            Self::Heavy => "heavy",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// In millionths of a dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money_micros: Option<u64>,
}

/// How freely the author thinks it may run. A warning when exceeded, never a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autonomy: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_policy: Option<String>,
}

/// A pointer to a document. Never inlined; whether it exists is looked up when a session starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    pub id: String,
    pub title: String,
    pub source: String,
    pub purpose: String,
    pub authoritative: bool,
    pub resolve_from: ResolveFrom,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolveFrom {
    Workspace,
    Package,
}

impl VarType {
    /// What a value should have been, if it does not fit.
    pub fn misfit(&self, value: &serde_json::Value) -> Option<String> {
        let (fits, expected) = match self {
            Self::Any => (true, "anything"),
            Self::String => (value.is_string(), "a text"),
            Self::Number => (value.is_number(), "a number"),
            Self::Integer => (value.is_i64() || value.is_u64(), "a whole number"),
            Self::Boolean => (value.is_boolean(), "`true` or `false`"),
            Self::Array => (value.is_array(), "a list"),
            Self::Object => (value.is_object(), "an object"),
            Self::Enum(allowed) => {
                let words: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                return (!allowed.contains(value)).then(|| format!("one of {}", words.join(", ")));
            }
        };
        (!fits).then(|| expected.to_owned())
    }
}

impl Workflow {
    /// Every step with those inside it, outer ones first, in the order of the file.
    pub fn all_steps(&self) -> Vec<&Step> {
        fn gather<'a>(steps: &'a [Step], all: &mut Vec<&'a Step>) {
            for step in steps {
                all.push(step);
                gather(step.kind.inner(), all);
            }
        }
        let mut all = Vec::new();
        gather(&self.steps, &mut all);
        all
    }
}
