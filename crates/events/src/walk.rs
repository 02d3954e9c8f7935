//! Values in the facts about walking a workflow.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::content::{Content, Digest};
use crate::ids::StepId;

/// Where in the workflow a step lies: inside which loops, in which iteration of each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// Jumps taken so far, by the step that jumps, outside of any loop.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jumps: BTreeMap<StepId, u32>,
}

impl Place {
    /// Whether there is nothing to tell.
    pub fn is_plain(&self) -> bool {
        self.frames.is_empty() && self.jumps.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let within = self.frames.iter().flat_map(|frame| frame.jumps.keys().chain([&frame.step]));
        within.chain(self.jumps.keys()).map(|step| step.0.as_str())
    }
}

/// One loop that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The loop.
    pub step: StepId,
    /// Counted from zero.
    pub iteration: u64,
    /// How many there will be, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// The list as it was when the loop was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Content>,
    /// Somebody who may has said that this iteration is the last.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Jumps taken in this iteration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub jumps: BTreeMap<StepId, u32>,
}

/// What a fork takes up again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restored {
    pub step: StepId,
    pub place: Place,
    pub vars: BTreeMap<String, Content>,
}

/// One step that was looked at on the way forward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Considered {
    pub step: StepId,
    pub choice: Choice,
    /// The condition with its values, where there was one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub because: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    Taken,
    Skipped,
    LoopEntered,
    LoopRepeated,
    LoopLeft,
    Jumped,
    /// A jump that its bound or its condition did not allow.
    NotJumped,
    /// A gate that its rules opened without asking anybody.
    GateOpen,
    /// A confirmation whose condition did not hold.
    NotAsked,
}

/// Why something did not do, in words that can be acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    pub code: String,
    pub message: String,
    pub fix: String,
}

impl Reason {
    pub fn new(code: &str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), fix: fix.into() }
    }
}

/// The state of the repository that a session was started in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkout {
    pub path: String,
    pub head: Option<String>,
    pub branch: Option<String>,
    /// What `.longhaul/` held; none if there was no such folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Digest>,
    /// The commit whose `.longhaul/` that is, for sessions that nobody started from the checkout itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
}

impl Checkout {
    pub(crate) fn words(&mut self) -> impl Iterator<Item = &mut String> {
        [&mut self.path].into_iter().chain(&mut self.branch)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateKind {
    /// A step of its own.
    Gate,
    /// Stops after a step's output was accepted.
    Confirmation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    Rejected,
}
