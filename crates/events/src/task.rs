//! What can happen to a task: one unit of work, over all attempts at it.
//!
//! How a task came out is not written here: the session of its newest attempt says so, and a fact is kept in one place.

use serde::{Deserialize, Serialize};

use crate::agent::Caps;
use crate::content::{BlobRef, Content, FreeText, Kept, Slot};
use crate::ids::{SessionId, WorkspaceId};
use crate::time::Timestamp;

/// A fact about one task. Append-only: a changed shape is a new variant and an upcaster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum TaskEvent {
    /// Always the first event, and only the first.
    Opened {
        goal: Content,
        /// Where it comes from: `cli`, `mcp`, `item:…`, `forge:…#12`.
        source: String,
        /// The workflow of its root sessions.
        pipeline: String,
        workspace: Option<WorkspaceId>,
        #[serde(default, skip_serializing_if = "Priority::is_normal")]
        priority: Priority,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
        /// What its root sessions may use, if an agent of ours does them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget: Option<Caps>,
        /// The step of the pipeline after which it ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        by: String,
    },
    /// A root session was started for it.
    Attempted {
        session: SessionId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// Somebody changed what it is to be.
    Set {
        change: TaskChange,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// Somebody wants no more of it. Its sessions are ended after this.
    Cancelled {
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
}

/// A part of a task that may be changed, with what it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "field", content = "value", rename_all = "snake_case")]
pub enum TaskChange {
    Priority(Priority),
    /// None takes it away.
    Deadline(Option<Timestamp>),
    Budget(Caps),
}

/// What goes first when not everything can. The later one is the more urgent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
    Urgent,
}

impl Priority {
    pub const WORDS: [(&'static str, Self); 4] =
        [("low", Self::Low), ("normal", Self::Normal), ("high", Self::High), ("urgent", Self::Urgent)];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

impl TaskEvent {
    /// The blobs without which this event is not whole.
    pub fn blobs(&self) -> Vec<BlobRef> {
        match self {
            Self::Opened { goal, .. } => goal.blob().into_iter().collect(),
            Self::Attempted { .. } | Self::Set { .. } | Self::Cancelled { .. } => Vec::new(),
        }
    }

    /// Everything that it carries by value or by digest.
    pub fn contents(&mut self) -> Vec<Slot<'_>> {
        match self {
            Self::Opened { goal, .. } => vec![Slot { content: goal, kept: Kept::InEvent }],
            Self::Attempted { .. } | Self::Set { .. } | Self::Cancelled { .. } => Vec::new(),
        }
    }

    /// Everything in it that is free text.
    pub fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        match self {
            Self::Opened { goal, source, by, .. } => {
                let words = [source, by].into_iter().map(FreeText::Words);
                goal.free_text().into_iter().chain(words).collect()
            }
            Self::Attempted { by, because, .. }
            | Self::Set { by, because, .. }
            | Self::Cancelled { by, because } => {
                std::iter::once(by).chain(because).map(FreeText::Words).collect()
            }
        }
    }
}
