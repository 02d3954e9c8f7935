//! Streams: one ordered list of events each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{DaemonId, IdError, SessionId, TaskId, TriggerId, WorkspaceId, serde_as_text};

/// What a stream is about; the part before the slash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamKind {
    Session,
    Task,
    Workspace,
    Trigger,
    Daemon,
}

impl StreamKind {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Task => "task",
            Self::Workspace => "workspace",
            Self::Trigger => "trigger",
            Self::Daemon => "daemon",
        }
    }
}

/// The name of a stream, such as `session/s-4k2m9x0c7v1qd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    Session(SessionId),
    Task(TaskId),
    Workspace(WorkspaceId),
    Trigger(TriggerId),
    Daemon(DaemonId),
}

impl StreamId {
    pub const fn kind(&self) -> StreamKind {
        match self {
            Self::Session(_) => StreamKind::Session,
            Self::Task(_) => StreamKind::Task,
            Self::Workspace(_) => StreamKind::Workspace,
            Self::Trigger(_) => StreamKind::Trigger,
            Self::Daemon(_) => StreamKind::Daemon,
        }
    }
}

impl From<SessionId> for StreamId {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

impl From<TaskId> for StreamId {
    fn from(id: TaskId) -> Self {
        Self::Task(id)
    }
}

impl From<WorkspaceId> for StreamId {
    fn from(id: WorkspaceId) -> Self {
        Self::Workspace(id)
    }
}

impl From<TriggerId> for StreamId {
    fn from(id: TriggerId) -> Self {
        Self::Trigger(id)
    }
}

impl From<DaemonId> for StreamId {
    fn from(id: DaemonId) -> Self {
        Self::Daemon(id)
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => write!(f, "session/{id}"),
            Self::Task(id) => write!(f, "task/{id}"),
            Self::Workspace(id) => write!(f, "workspace/{id}"),
            Self::Trigger(id) => write!(f, "trigger/{id}"),
            Self::Daemon(id) => write!(f, "daemon/{id}"),
        }
    }
}

impl FromStr for StreamId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.split_once('/') {
            Some(("session", id)) => id.parse().map(Self::Session),
            Some(("task", id)) => id.parse().map(Self::Task),
            Some(("workspace", id)) => id.parse().map(Self::Workspace),
            Some(("trigger", id)) => id.parse().map(Self::Trigger),
            Some(("daemon", id)) => id.parse().map(Self::Daemon),
            _ => Err(IdError::new(
                "stream",
                text,
                "`session/s-…`, `task/t-…`, `workspace/w-…`, `trigger/g-…` or `daemon/d-…`",
            )),
        }
    }
}

serde_as_text!(StreamId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_reads_back_as_it_was_written() {
        let stream = StreamId::from(WorkspaceId::from_bytes([9; 5]));
        assert_eq!(stream.to_string().parse(), Ok(stream));
        assert_eq!(stream.kind().name(), "workspace");
    }

    #[test]
    fn an_unknown_kind_is_refused() {
        assert!("goblin/s-041061050r3gg".parse::<StreamId>().is_err());
    }
}
