//! What can happen to a task: one unit of work, over all attempts at it.
//!
//! How a task came out is not written here: the session of its newest attempt says so, and a fact is kept in one place.

use serde::{Deserialize, Serialize};

use crate::agent::{Caps, Taint};
use crate::content::{BlobRef, Content, FreeText, Kept, Slot};
use crate::ids::{SessionId, TaskId, TriggerId, WorkspaceId};
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
    /// It waits for its turn. Whoever starts it does so as ordered here.
    Queued { orders: Orders, by: String },
    /// Its newest attempt came to nothing, and it waits for its turn again.
    Requeued {
        because: String,
        /// Not before then.
        due: Timestamp,
        by: String,
    },
    /// Nothing more is done by itself: a person has to look.
    HandedOver { because: String, by: String },
    /// A person said something to whoever works on it.
    Told { words: Content, by: String },
    /// A person settled an entry of the inbox.
    Replied {
        entry: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
        by: String,
    },
}

/// How a task that waits for its turn is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// Who is asked; none for whom the settings name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The script of a rehearsal, with the name of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cassette: Option<Content>,
    #[serde(default, skip_serializing_if = "Taint::is_clean")]
    pub taint: Taint,
    /// Of the ticket that it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// After so many attempts a person is asked.
    pub max_attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerId>,
    /// Not before these are over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// The paths that it is going to touch, as far as somebody said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    /// The branch to start from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

/// A part of a task that may be changed, with what it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "field", content = "value", rename_all = "snake_case")]
pub enum TaskChange {
    Priority(Priority),
    /// None takes it away.
    Deadline(Option<Timestamp>),
    Budget(Caps),
    /// Where it stands in the queue.
    Place(Place),
}

/// Where a person put a task in the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Since when.
    First(Timestamp),
    /// Where its rank puts it.
    #[default]
    Usual,
    Last(Timestamp),
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
            Self::Opened { goal: content, .. } | Self::Told { words: content, .. } => {
                content.blob().into_iter().collect()
            }
            Self::Queued { orders, .. } => orders.cassette.iter().filter_map(Content::blob).collect(),
            Self::Attempted { .. }
            | Self::Set { .. }
            | Self::Cancelled { .. }
            | Self::Requeued { .. }
            | Self::HandedOver { .. }
            | Self::Replied { .. } => Vec::new(),
        }
    }

    /// Everything that it carries by value or by digest.
    pub fn contents(&mut self) -> Vec<Slot<'_>> {
        let in_state = |content| Slot { content, kept: Kept::InState };
        match self {
            Self::Opened { goal, .. } => vec![Slot { content: goal, kept: Kept::InEvent }],
            Self::Queued { orders, .. } => orders.cassette.iter_mut().map(in_state).collect(),
            Self::Told { words, .. } => vec![in_state(words)],
            Self::Attempted { .. }
            | Self::Set { .. }
            | Self::Cancelled { .. }
            | Self::Requeued { .. }
            | Self::HandedOver { .. }
            | Self::Replied { .. } => Vec::new(),
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
            Self::Queued { orders, by } => {
                let Orders { agent, cassette, labels, scope, base, .. } = orders;
                let words = std::iter::once(by).chain(agent).chain(labels).chain(scope).chain(base);
                let script = cassette.iter_mut().filter_map(Content::free_text);
                words.map(FreeText::Words).chain(script).collect()
            }
            Self::Requeued { because, by, .. } | Self::HandedOver { because, by } => {
                [because, by].into_iter().map(FreeText::Words).collect()
            }
            Self::Told { words, by } => {
                words.free_text().into_iter().chain(std::iter::once(FreeText::Words(by))).collect()
            }
            Self::Replied { entry, words, by } => {
                [entry, by].into_iter().chain(words).map(FreeText::Words).collect()
            }
        }
    }
}
