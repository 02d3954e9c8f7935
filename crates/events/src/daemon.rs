//! What can happen to a daemon: whoever drives tasks when nobody is at the keyboard.

use serde::{Deserialize, Serialize};

use crate::content::FreeText;
use crate::ids::WorkspaceId;
use crate::session::Driver;

/// A fact about one daemon. Append-only: a changed shape is a new variant and an upcaster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum DaemonEvent {
    /// A process serves from now on. One that was before it is gone.
    Started { process: Driver, version: String },
    /// It ended by itself. One that died says nothing.
    Stopped { because: String },
    /// Nothing new is started from the queue, or from that of one repository.
    QueuePaused {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<WorkspaceId>,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    QueueResumed {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<WorkspaceId>,
        by: String,
    },
    /// Somebody was told of something, in one of the ways that the settings name.
    Notified { entry: String, way: String },
}

impl DaemonEvent {
    /// Everything in it that is free text.
    pub fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        let words: Vec<&mut String> = match self {
            Self::Started { version, .. } => vec![version],
            Self::Stopped { because } => vec![because],
            Self::QueuePaused { by, because, .. } => std::iter::once(by).chain(because).collect(),
            Self::QueueResumed { by, .. } => vec![by],
            Self::Notified { entry, way } => vec![entry, way],
        };
        words.into_iter().map(FreeText::Words).collect()
    }
}
