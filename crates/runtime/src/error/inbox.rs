//! What can be wrong with an entry of the inbox that somebody wants something of.

use longhaul_core::inbox::{Entry, Kind as EntryKind};

use super::Kind;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InboxError {
    #[error("the inbox has no entry `{0}`; its cause may be gone, `longhaul inbox` lists what there is")]
    NoSuch(String),
    #[error("several entries of the inbox fit `{text}`: {fitting}; name one by its id")]
    Ambiguous { text: String, fitting: String },
    #[error(
        "`{id}` is no gate but {what}, so there is nothing to approve or reject; `longhaul inbox show {id}` says what can be done"
    )]
    NoGate { id: String, what: &'static str },
    #[error("`{id}` takes no reply: {because}; `longhaul inbox show {id}` says what can be done")]
    TakesNoWords { id: String, because: &'static str },
    #[error(
        "`{id}` is not taken from the list by a word: {because}; `longhaul inbox show {id}` says what can be done"
    )]
    NotSettledByWord { id: String, because: &'static str },
    #[error(
        "`{id}` is about a session from before there were tasks, and there is nowhere to put your word on record"
    )]
    WithoutTask { id: String },
}

impl InboxError {
    /// A word for what is no gate.
    pub fn no_gate(entry: &Entry) -> Self {
        let what = match entry.kind {
            EntryKind::Gate => "a gate",
            EntryKind::Question => "a question",
            EntryKind::HandedOver => "a task that was handed over to you",
            EntryKind::Blocked => "something that is blocked",
            EntryKind::Budget => "something that is out of budget",
            EntryKind::CouldNot | EntryKind::Failed => "something that came to nothing",
            EntryKind::Result => "a result",
            EntryKind::Trouble => "something that is broken",
        };
        Self::NoGate { id: entry.id.to_string(), what }
    }

    pub(crate) fn takes_no_words(entry: &Entry) -> Self {
        let because = match entry.kind {
            EntryKind::Gate => "a gate is approved or rejected",
            EntryKind::Budget => "it lacks a budget, not words",
            EntryKind::Result => "it is done; `longhaul session continue` asks it for more",
            EntryKind::Trouble => "nobody reads it there",
            EntryKind::Question
            | EntryKind::HandedOver
            | EntryKind::Blocked
            | EntryKind::CouldNot
            | EntryKind::Failed => "nobody listens",
        };
        Self::TakesNoWords { id: entry.id.to_string(), because }
    }

    pub(crate) fn not_settled_by_word(entry: &Entry) -> Self {
        let because = match entry.kind {
            EntryKind::Gate => "a gate is approved, rejected, or its time ends",
            EntryKind::Trouble => "it goes when it is mended",
            EntryKind::Question
            | EntryKind::HandedOver
            | EntryKind::Blocked
            | EntryKind::Budget
            | EntryKind::CouldNot
            | EntryKind::Failed
            | EntryKind::Result => "it goes with its cause",
        };
        Self::NotSettledByWord { id: entry.id.to_string(), because }
    }

    pub(crate) fn without_task(entry: &Entry) -> Self {
        Self::WithoutTask { id: entry.id.to_string() }
    }

    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoSuch(_) | Self::Ambiguous { .. } => "E0270",
            Self::NoGate { .. }
            | Self::TakesNoWords { .. }
            | Self::NotSettledByWord { .. }
            | Self::WithoutTask { .. } => "E0271",
        }
    }

    pub const fn kind(&self) -> Kind {
        match self {
            Self::NoSuch(_) | Self::Ambiguous { .. } => Kind::Usage,
            Self::NoGate { .. }
            | Self::TakesNoWords { .. }
            | Self::NotSettledByWord { .. }
            | Self::WithoutTask { .. } => Kind::Refused,
        }
    }
}
