//! What a workspace sets of its policies: `policy:` of the configuration.

use serde::{Deserialize, Serialize};

use super::facts::Risk;

/// Pinned into every step that asks a policy, when the session starts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub merge: MergeSettings,
    pub review: ReviewSettings,
    pub intent_gate: IntentGate,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MergeSettings {
    /// The risks whose changes may be merged without asking anybody.
    pub auto: Vec<Risk>,
    pub method: MergeMethod,
    pub freshness: Freshness,
    /// Patterns of paths that never merge by themselves, beside those that never do anywhere.
    pub never: Vec<String>,
}

impl Default for MergeSettings {
    fn default() -> Self {
        Self {
            auto: vec![Risk::Low],
            method: MergeMethod::Squash,
            freshness: Freshness::Disjoint,
            never: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    Squash,
    Merge,
    Rebase,
}

/// What becomes of a proof when the base moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Freshness {
    /// It is proved again.
    Strict,
    /// It is carried where no file is shared.
    Disjoint,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReviewSettings {
    /// How often findings are fixed before a person is asked.
    pub fix_attempts: u32,
    pub families: Vec<Family>,
}

impl Default for ReviewSettings {
    fn default() -> Self {
        Self { fix_attempts: 3, families: vec![Family::Correctness, Family::Tests, Family::Security] }
    }
}

/// What a review looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    Correctness,
    Tests,
    Security,
    Architecture,
}

impl Family {
    pub const ALL: [Self; 4] = [Self::Correctness, Self::Tests, Self::Security, Self::Architecture];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Tests => "tests",
            Self::Security => "security",
            Self::Architecture => "architecture",
        }
    }
}

/// When a person looks at the intent before anything is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentGate {
    Always,
    #[default]
    Vague,
    Never,
}
