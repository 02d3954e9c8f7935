//! What happens between a prompt and the end of its turn, in words that know of no protocol.

use std::time::Duration;

use longhaul_events::{CallOutcome, TokenCount};

use crate::policy::Answer;

/// Whoever waits for an agent: hears it, says how long it may be silent, and may have enough of it.
pub trait Watch {
    /// Something came. Any of it is a sign of life.
    fn heard(&self, update: &Update);
    /// Asked several times a second. Once it is not wanted, the agent is told to stop and ended if it does not.
    fn is_wanted(&self) -> bool;
    /// How long it may be silent. Asked again and again, so that signs of life from elsewhere can count.
    fn patience(&self, waiting: Waiting) -> Duration;
}

/// What an agent that is silent is doing, as far as it has told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Starting or thinking.
    Answer,
    /// Running a tool of its own.
    Tool,
}

/// Something that an agent let us know while it works. Texts are cut where they are longer than anybody reads.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    Said(String),
    Thought(String),
    Began(Call),
    Ended(Did),
    Planned(Vec<PlanEntry>),
    Used(Window),
    Asked(Permission),
    /// A sign of life without a meaning for us.
    Other,
}

/// A call of one of its own tools, or of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// A word for what it does, such as `edit`, or the tool's own name.
    pub tool: String,
    pub title: String,
}

/// A call that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Did {
    pub tool: String,
    pub title: String,
    pub outcome: CallOutcome,
    pub ms: u64,
}

/// A line of the agent's own plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    pub words: String,
    pub status: PlanStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStatus {
    Pending,
    InProgress,
    Completed,
}

/// How full its conversation is, as the agent counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub used: u64,
    pub size: u64,
}

/// A permission that it asked for, and what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    pub tool: String,
    pub title: String,
    pub answer: Answer,
}

/// A turn that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// All that it said, its messages apart by an empty line. Of very much the beginning is left out.
    pub said: String,
    pub cause: EndCause,
    pub did: Vec<Did>,
    /// Calls beyond those in `did`, of which nothing but the number was kept.
    pub did_more: u64,
    /// As the agent counts. What is paid for is in the bills of the gateway.
    pub usage: Option<TokenCount>,
}

/// Why a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCause {
    EndTurn,
    MaxTokens,
    /// It asked its model as often as it may in a turn.
    MaxRequests,
    Refusal,
    /// We wanted it no longer. It may have been ended, and then answers no further prompt.
    Cancelled,
}
