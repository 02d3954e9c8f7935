//! What an agent is asked, and what its answer must have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::VarType;
use super::condition::Condition;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub body: Body,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<Fragment>,
    pub notes: Notes,
    /// Vars that the answer must leave set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub produces: BTreeMap<String, VarType>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<OutputContract>,
    /// Judged on the notes; every one must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validate: Vec<Rule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assessments: Vec<Assessment>,
    /// The loop that this step's control artifact decides about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Function>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub function_calls: Vec<Value>,
    #[serde(default)]
    pub ask_for_files: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
}

impl Prompt {
    /// A prompt that asks for nothing but an answer.
    pub(crate) fn plain(body: Body, notes: Notes) -> Self {
        Self {
            body,
            fragments: Vec::new(),
            notes,
            produces: BTreeMap::new(),
            outputs: Vec::new(),
            validate: Vec::new(),
            assessments: Vec::new(),
            control: None,
            functions: Vec::new(),
            function_calls: Vec::new(),
            ask_for_files: false,
            audit: None,
            verification: None,
        }
    }
}

/// Texts are templates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    Text(String),
    Blocks(Blocks),
}

/// Rendered in this order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Blocks {
    pub goal: Option<String>,
    pub constraints: Vec<String>,
    pub procedure: Vec<String>,
    /// In the order of the file.
    pub output_required: Vec<(String, String)>,
    pub verify: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fragment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notes {
    Required,
    Optional,
    /// Refused when given.
    None,
}

/// An artifact that must come with the answer and fit a contract of the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputContract {
    /// A key of [`super::Workflow::contracts`].
    pub contract: String,
    pub required: bool,
    /// The var that takes the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Control {
    pub loop_id: String,
}

/// A demand on the notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    One(Box<OneRule>),
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneRule {
    pub demand: Demand,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Demand {
    Contains(String),
    Matches {
        pattern: String,
        flags: String,
    },
    Length {
        min: Option<u64>,
        max: Option<u64>,
    },
    /// The notes are JSON that fits this schema.
    Schema(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    pub dimensions: Vec<Dimension>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<Consequence>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub purpose: String,
    pub levels: Vec<String>,
    pub required: bool,
}

/// What the engine does when an assessment comes out like this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consequence {
    pub when: LevelTest,
    pub then: FollowUp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelTest {
    /// Some dimension has this level.
    Any(String),
    /// This dimension has this level.
    Dimension { id: String, level: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowUp {
    /// Do this as well, then answer again.
    Guidance(String),
    /// Do these in order, then answer again.
    Redo(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    pub definition: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rubric: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}
