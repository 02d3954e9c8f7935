//! One entry of the inbox, and the name by which people call it.

use std::fmt;

use longhaul_events::{NodeId, SessionId, TaskId, Timestamp, WorkspaceId, encode_base32};
use serde::Serialize;

use crate::canonical::sha256;
use crate::question::Urgency;

/// Something that waits for a person, or that they should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub id: EntryId,
    pub kind: Kind,
    pub urgency: Urgency,
    /// What it is, and the title of its task.
    pub title: String,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Where a gate is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<NodeId>,
    #[serde(serialize_with = "moment")]
    pub since: Timestamp,
    /// After this it is too late.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "moment_if_any")]
    pub until: Option<Timestamp>,
    /// What can be done about it, the usual first.
    pub remedies: Vec<Remedy>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What happens without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A command, and what it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remedy {
    pub command: String,
    pub does: String,
}

impl Remedy {
    pub(super) fn new(command: String, does: &str) -> Self {
        Self { command, does: does.to_owned() }
    }
}

/// What an entry is about. Among equally urgent ones the earlier comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Trouble,
    Gate,
    Question,
    HandedOver,
    Blocked,
    Budget,
    CouldNot,
    Failed,
    Result,
}

impl Kind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trouble => "trouble",
            Self::Gate => "gate",
            Self::Question => "question",
            Self::HandedOver => "handed over",
            Self::Blocked => "blocked",
            Self::Budget => "budget",
            Self::CouldNot => "could not",
            Self::Failed => "failed",
            Self::Result => "result",
        }
    }

    /// Whether a person's word takes it from the list. A gate is answered or its time ends, and what is broken is mended.
    pub const fn is_settled_by_word(self) -> bool {
        match self {
            Self::Trouble | Self::Gate => false,
            Self::Question
            | Self::HandedOver
            | Self::Blocked
            | Self::Budget
            | Self::CouldNot
            | Self::Failed
            | Self::Result => true,
        }
    }
}

/// The name of an entry: made from what it is about, so that it is the same whoever looks, and another when the same happens
/// again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryId(String);

impl EntryId {
    pub(super) fn of(kind: Kind, subject: &str, number: u64) -> Self {
        let digest = sha256(format!("{}\0{subject}\0{number}", kind.word()).as_bytes());
        Self(format!("i-{}", encode_base32(&digest.0[..5])))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for EntryId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn moment<S: serde::Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&crate::time::rfc3339(*at))
}

#[expect(clippy::ref_option, reason = "serde asks with a reference")]
fn moment_if_any<S: serde::Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => moment(at, serializer),
        None => serializer.serialize_none(),
    }
}
