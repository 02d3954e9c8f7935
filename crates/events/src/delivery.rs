//! What is stored about acts that others see: what was about to be done, and what came of it.

use serde::{Deserialize, Serialize};

use crate::content::Content;

/// Something that a delivery does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryAct {
    /// In a repository of our own, where nobody sees it.
    Commit,
    /// A branch, where others find it.
    Branch,
    PullRequest,
    Comment,
    Merge,
    RemoveBranch,
    Close,
}

impl DeliveryAct {
    /// Whether others see it, so that nobody can take it back.
    pub const fn is_outward(self) -> bool {
        match self {
            Self::Commit => false,
            Self::Branch
            | Self::PullRequest
            | Self::Comment
            | Self::Merge
            | Self::RemoveBranch
            | Self::Close => true,
        }
    }

    /// The word that people and records have for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Branch => "branch",
            Self::PullRequest => "pull_request",
            Self::Comment => "comment",
            Self::Merge => "merge",
            Self::RemoveBranch => "remove_branch",
            Self::Close => "close",
        }
    }
}

/// One side of an act. The key says which act it is, over all starts of the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case", deny_unknown_fields)]
pub enum DeliveryFact {
    /// It is about to be done. From here on nobody knows whether it was, until somebody has looked.
    Intended { act: DeliveryAct, key: String, what: Content },
    /// It was done.
    Received {
        act: DeliveryAct,
        key: String,
        receipt: Content,
        /// Somebody looked and saw that it had been done before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        found: bool,
    },
}

impl DeliveryFact {
    pub const fn act(&self) -> DeliveryAct {
        match self {
            Self::Intended { act, .. } | Self::Received { act, .. } => *act,
        }
    }

    pub(crate) fn content(&mut self) -> &mut Content {
        match self {
            Self::Intended { what: content, .. } | Self::Received { receipt: content, .. } => content,
        }
    }

    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Intended { key, .. } | Self::Received { key, .. } => key,
        }
    }
}
