//! One turn: what an agent is asked, and what it may answer.

use std::fmt;

use longhaul_core::budget::Pricing;
use longhaul_core::cassette::{Asked, Order, Usage};
use longhaul_core::conversation::Answered;
use longhaul_core::transcript::{Shortening, Unread};
use longhaul_events::{Timestamp, TurnFault};
use serde_json::{Map, Value};

use crate::asker::Asker;

/// Something that answers turns: a script, a model, somebody else's program.
pub trait Agent: fmt::Debug + Send {
    /// The next turn, or why there is none.
    fn turn(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Fault>;

    /// How many tokens it has room for.
    fn window(&self) -> u64;

    /// What its turns cost.
    fn pricing(&self) -> Pricing;

    /// What it can say beforehand of its next turn.
    fn foresee(&self, request: &TurnRequest<'_>) -> Foresight;

    /// Whether it works by itself while a turn lasts, and hands in what it did.
    fn has_hands(&self) -> bool {
        false
    }

    /// What has to be told no more, so that there is room for the next turn. It counts when it is on record.
    fn compact(&mut self, _request: &TurnRequest<'_>) -> Result<Option<Compaction>, Fault> {
        Ok(None)
    }

    /// Whether it is content with how the session ended; a script is not when it had more to play.
    fn end(&mut self) -> Result<(), String>;
}

/// What is known of a turn that was not asked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foresight {
    /// All of it.
    Exactly(Usage),
    /// Only how long the answer may be.
    AtMost { output: u64 },
}

/// What an agent is told when its turn comes.
#[derive(Debug, Clone, Copy)]
pub struct TurnRequest<'a> {
    pub asked: &'a Asked,
    /// The calls of its last turn, with how they ended.
    pub answers: &'a [Answered<'a>],
    /// What somebody said to it since then.
    pub told: &'a [String],
    pub silence: Silence<'a>,
    /// Who asks, and knows what happened in the session before.
    pub asker: &'a dyn Asker,
}

/// What is told no more of a conversation, and what is told in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    pub plan: Shortening,
    pub recap: Option<String>,
}

/// What becomes of the time in which nothing is heard of an agent.
#[derive(Clone, Copy)]
pub enum Silence<'a> {
    /// It is waited for; called with milliseconds, it says how many of them passed before patience or the session was at
    /// its end.
    Endured(&'a dyn Fn(u64) -> u64),
    /// The turn was asked long ago, and only its script is gone through again.
    Skipped,
}

impl fmt::Debug for Silence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Endured(_) => "Endured",
            Self::Skipped => "Skipped",
        })
    }
}

impl Silence<'_> {
    /// Says how long nothing was heard.
    pub fn pass(self, ms: u64) -> u64 {
        match self {
            Self::Endured(wait) => wait(ms),
            Self::Skipped => ms,
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub say: String,
    pub calls: Vec<Call>,
    pub order: Order,
    pub usage: Usage,
    /// What a provider wants back unchanged whenever the turn is told again.
    pub echo: Option<Value>,
    /// What the agent has to be told about its answer: that a part of it did not count.
    pub aside: Option<String>,
}

impl Turn {
    /// A turn of somebody who has a memory of its own.
    pub const fn plain(say: String, calls: Vec<Call>, order: Order, usage: Usage) -> Self {
        Self { say, calls, order, usage, echo: None, aside: None }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// What the script says a command has to end with.
    pub expect_exit: Option<i32>,
    /// The name that a provider gave it.
    pub id: Option<String>,
}

/// Why a turn has no answer. Each has its own remedy, so each is its own case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("nothing came for {ms} ms")]
    Stalled { ms: u64 },
    #[error("the answer broke off")]
    CutOff,
    #[error("too many requests; try again later{}", more(.message))]
    RateLimit { message: String, retry_after_ms: Option<u64> },
    #[error("the provider is overloaded; try again later{}", more(.message))]
    Overloaded { message: String, retry_after_ms: Option<u64> },
    #[error("the usage limit is reached{}", more(.message))]
    UsageLimit { message: String, resets_at: Option<Timestamp> },
    #[error("the provider does not accept the key{}", more(.message))]
    Auth { message: String },
    #[error("what came is no answer{}", more(.message))]
    Garbage { message: String },
    #[error("the conversation is longer than the model has room for{}", more(.message))]
    ContextOverflow { message: String },
    #[error("the provider does not take the request{}", more(.message))]
    BadRequest { message: String },
    #[error("the provider was not reached{}", more(.message))]
    Network { message: String },
    /// Our own cap.
    #[error("{message}")]
    OverCap { message: String },
    /// The script and the world do not fit any more.
    #[error("{0}")]
    Unscripted(String),
    /// What the agent has to be told cannot be read: nothing that it could do anything about.
    #[error(transparent)]
    Unread(#[from] Unread),
    /// Nobody wants the answer any more.
    #[error("the turn was called off")]
    Stopped,
}

impl Fault {
    /// As it is on record. `None` if it says nothing about whoever was asked.
    pub const fn kind(&self) -> Option<TurnFault> {
        Some(match self {
            Self::Stalled { .. } => TurnFault::Stalled,
            Self::CutOff => TurnFault::CutOff,
            Self::RateLimit { .. } => TurnFault::RateLimit,
            Self::Overloaded { .. } => TurnFault::Overloaded,
            Self::UsageLimit { .. } => TurnFault::UsageLimit,
            Self::Auth { .. } => TurnFault::Auth,
            Self::Garbage { .. } => TurnFault::Garbage,
            Self::ContextOverflow { .. } => TurnFault::ContextOverflow,
            Self::BadRequest { .. } => TurnFault::BadRequest,
            Self::Network { .. } => TurnFault::Network,
            Self::OverCap { .. } => TurnFault::OverCap,
            Self::Unscripted(_) => TurnFault::Unscripted,
            Self::Unread(_) | Self::Stopped => return None,
        })
    }

    /// For how long whoever was asked wants to be left alone.
    pub const fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::RateLimit { retry_after_ms, .. } | Self::Overloaded { retry_after_ms, .. } => {
                *retry_after_ms
            }
            Self::Stalled { .. }
            | Self::CutOff
            | Self::UsageLimit { .. }
            | Self::Auth { .. }
            | Self::Garbage { .. }
            | Self::ContextOverflow { .. }
            | Self::BadRequest { .. }
            | Self::Network { .. }
            | Self::OverCap { .. }
            | Self::Unscripted(_)
            | Self::Unread(_)
            | Self::Stopped => None,
        }
    }

    /// When a limit that is used up is new again.
    pub const fn resets_at(&self) -> Option<Timestamp> {
        if let Self::UsageLimit { resets_at, .. } = self { *resets_at } else { None }
    }
}

/// What a provider had to say about it, if anything.
fn more(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
