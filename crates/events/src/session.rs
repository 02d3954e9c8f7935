//! What can happen to a session.

use serde::{Deserialize, Serialize};

use crate::content::{BlobRef, Content, Digest, FreeText};
use crate::ids::{Epoch, NodeId, Nonce, SessionId, SessionKey, StepId, WorkspaceId};
use crate::time::Timestamp;

/// A fact about one session. Append-only: a changed shape is a new variant and an upcaster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionEvent {
    /// Always the first event, and only the first.
    Opened {
        key: SessionKey,
        goal: Content,
        workspace: Option<WorkspaceId>,
        parent: Option<SessionId>,
    },
    DriverTaken {
        epoch: Epoch,
        driver: Driver,
        expires_at: Timestamp,
    },
    DriverRenewed {
        epoch: Epoch,
        expires_at: Timestamp,
    },
    /// Somebody looked after `expired_at` and found that the driver had not renewed.
    DriverExpired {
        epoch: Epoch,
        expired_at: Timestamp,
    },
    DriverReleased {
        epoch: Epoch,
    },
    StepHandedOut {
        node: NodeId,
        after: Option<NodeId>,
        step: StepId,
        prompt: Content,
        nonce: Nonce,
    },
    StepFinished {
        node: NodeId,
        nonce: Nonce,
        payload: Content,
        /// Of the canonical form as it was sent, before secrets were taken out.
        payload_hash: Digest,
        answer: Content,
        epoch: Option<Epoch>,
    },
    /// A fresh handle was given out for a node that is no longer the newest.
    HandleReissued {
        node: NodeId,
        nonce: Nonce,
    },
    /// A reissued handle was used: `left` and what led to it are no longer the way forward.
    Forked {
        from: NodeId,
        nonce: Nonce,
        left: Option<NodeId>,
    },
    Closed {
        outcome: CloseOutcome,
    },
}

/// Who drives a session: a process that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    pub host: String,
    pub process: u32,
    /// Start time of the process in clock ticks since boot, so that a reused number is not taken for it.
    pub started: Option<u64>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum CloseOutcome {
    Completed,
    Cancelled { by: String },
    Failed { reason: String },
}

impl SessionEvent {
    /// The blobs without which this event is not whole.
    pub fn blobs(&self) -> Vec<BlobRef> {
        let contents: &[&Content] = match self {
            Self::Opened { goal, .. } => &[goal],
            Self::StepHandedOut { prompt, .. } => &[prompt],
            Self::StepFinished { payload, answer, .. } => &[payload, answer],
            Self::DriverTaken { .. }
            | Self::DriverRenewed { .. }
            | Self::DriverExpired { .. }
            | Self::DriverReleased { .. }
            | Self::HandleReissued { .. }
            | Self::Forked { .. }
            | Self::Closed { .. } => &[],
        };
        contents.iter().filter_map(|content| content.blob()).collect()
    }

    /// Everything in it that is free text. Secrets are taken out of this and of nothing else, so that an
    /// event stays an event whatever the secret is.
    pub fn free_texts(&mut self) -> Vec<FreeText<'_>> {
        match self {
            Self::Opened { goal, .. } => goal.free_text().into_iter().collect(),
            Self::DriverTaken { driver, .. } => vec![FreeText::Words(&mut driver.host)],
            Self::StepHandedOut { step, prompt, .. } => {
                let mut texts = vec![FreeText::Words(&mut step.0)];
                texts.extend(prompt.free_text());
                texts
            }
            Self::StepFinished { payload, answer, .. } => {
                payload.free_text().into_iter().chain(answer.free_text()).collect()
            }
            Self::Closed {
                outcome: CloseOutcome::Cancelled { by: text } | CloseOutcome::Failed { reason: text },
            } => {
                vec![FreeText::Words(text)]
            }
            Self::Closed { outcome: CloseOutcome::Completed }
            | Self::DriverRenewed { .. }
            | Self::DriverExpired { .. }
            | Self::DriverReleased { .. }
            | Self::HandleReissued { .. }
            | Self::Forked { .. } => Vec::new(),
        }
    }
}
