//! What can happen to a trigger: something arrived, a moment came, a person fired it, and what became of that.

use serde::{Deserialize, Serialize};

use crate::content::{Digest, FreeText};
use crate::ids::{TaskId, WorkspaceId};
use crate::time::Timestamp;

/// A fact about one trigger. Append-only: a changed shape is a new variant and an upcaster.
///
/// What came without a valid signature is not a fact about a trigger: strangers must not be able to fill the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum TriggerEvent {
    /// Always the first event, and only the first.
    Named {
        name: String,
        /// The repository that declares it; none for one of the user's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<WorkspaceId>,
    },
    /// Something arrived from outside, signed as it should be.
    Delivered {
        /// As the sender calls it, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delivery: Option<String>,
        /// Of all that was signed.
        body: Digest,
        outcome: Intake,
    },
    /// A moment of its schedule came.
    Ticked { due: Timestamp, outcome: Intake },
    /// A person wanted it now.
    Fired { by: String, outcome: Intake },
}

/// What became of an occasion to start a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "came_to", rename_all = "snake_case", deny_unknown_fields)]
pub enum Intake {
    /// It is in the queue.
    Task { task: TaskId },
    /// That task was opened for the same before.
    Duplicate { task: TaskId },
    /// It does not fit what the trigger waits for.
    NotWanted { because: String },
    /// It fits, and no task can be made of it.
    Refused { because: String },
    /// It was left out on purpose: the one before still runs, its moment was missed, or the cap is reached.
    Skipped { because: String },
}

impl TriggerEvent {
    /// Everything in it that is free text.
    pub fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        let words: Vec<&mut String> = match self {
            Self::Named { name, .. } => vec![name],
            Self::Delivered { delivery, outcome, .. } => {
                delivery.iter_mut().chain(outcome.because()).collect()
            }
            Self::Ticked { outcome, .. } => outcome.because().into_iter().collect(),
            Self::Fired { by, outcome } => std::iter::once(by).chain(outcome.because()).collect(),
        };
        words.into_iter().map(FreeText::Words).collect()
    }
}

impl Intake {
    fn because(&mut self) -> Option<&mut String> {
        match self {
            Self::Task { .. } | Self::Duplicate { .. } => None,
            Self::NotWanted { because } | Self::Refused { because } | Self::Skipped { because } => {
                Some(because)
            }
        }
    }
}
