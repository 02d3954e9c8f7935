//! What policies look at, typed. Keys beyond these are let pass: a contract has looked at them before.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classification {
    pub complexity: Complexity,
    pub risk: Risk,
    pub maturity: Maturity,
    #[serde(rename = "hasUI")]
    pub has_ui: bool,
    #[serde(rename = "touchesArchitecture")]
    pub touches_architecture: bool,
    #[serde(default)]
    pub because: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    Trivial,
    Small,
    Medium,
    Large,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    Low,
    Medium,
    High,
}

/// How much is known when the task comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maturity {
    Idea,
    Rough,
    Specced,
    Ready,
    CodeComplete,
}

/// What is about to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    pub interpretation: String,
    /// Patterns of the paths that it may touch.
    pub scope: Vec<String>,
    pub expected_files: Vec<String>,
    #[serde(default)]
    pub side_effects: Vec<String>,
    #[serde(default)]
    pub risks: Vec<String>,
    pub is_destructive: bool,
    pub confidence: Confidence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// What was done, as git says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub files: Vec<ChangedFile>,
    /// Added and removed together.
    pub lines: u64,
    pub is_empty: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub status: FileStatus,
    #[serde(default)]
    pub added: u64,
    #[serde(default)]
    pub removed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
    TypeChanged,
}

/// What the enum is called in JSON, for a sentence.
macro_rules! words {
    ($($kind:ident { $($variant:ident => $word:literal),+ })+) => { $(
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word),+ })
            }
        }
    )+ };
}

words! {
    Complexity { Trivial => "trivial", Small => "small", Medium => "medium", Large => "large" }
    Risk { Low => "low", Medium => "medium", High => "high" }
    Confidence { Low => "low", Medium => "medium", High => "high" }
    Maturity { Idea => "idea", Rough => "rough", Specced => "specced", Ready => "ready", CodeComplete => "code_complete" }
}
