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
    /// Versions of others' code that changed, where whoever looked could tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<Bump>>,
    /// Paths among those that decide what the workspace's checks come to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check_files: Vec<String>,
}

impl Change {
    /// Every path that it touches, also those that a file was moved away from.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|file| std::iter::once(file.path.as_str()).chain(file.from.as_deref()))
    }
}

/// A dependency that is another one now; a version is missing where it came or went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bump {
    pub name: String,
    #[serde(default)]
    pub from: Option<String>,
    #[serde(default)]
    pub to: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    /// Where it was before it was moved.
    #[serde(default, alias = "old_path", skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Where it went, in the row of a place that a file was moved away from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
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

/// What one reviewer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    pub family: String,
    pub findings: Vec<Finding>,
    #[serde(default)]
    pub criteria: Vec<JudgedCriterion>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    pub category: String,
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub line: Option<u64>,
    pub evidence: String,
    #[serde(default)]
    pub criterion: Option<String>,
    #[serde(default)]
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    Nit,
    Minor,
    Major,
    Critical,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedCriterion {
    pub id: String,
    pub outcome: CriterionOutcome,
    #[serde(default)]
    pub evidence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionOutcome {
    Met,
    NotMet,
    Unclear,
}

/// What an audit says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    Clean,
    Concerns,
    Unsafe,
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
    Severity { Nit => "Nit", Minor => "Minor", Major => "Major", Critical => "Critical" }
    AuditOutcome { Clean => "clean", Concerns => "concerns", Unsafe => "unsafe" }
    Maturity { Idea => "idea", Rough => "rough", Specced => "specced", Ready => "ready", CodeComplete => "code_complete" }
}
