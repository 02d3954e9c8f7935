//! One turn: what an agent is asked, and what it may answer.

use std::fmt;

use longhaul_core::cassette::{Asked, Order, Usage};
use longhaul_core::conversation::Answered;
use serde_json::{Map, Value};

/// Something that answers turns: a script, a model, somebody else's program.
pub trait Agent: fmt::Debug + Send {
    /// The next turn, or why there is none.
    fn turn(&mut self, request: &TurnRequest<'_>) -> Result<Turn, Fault>;

    /// How many tokens it has room for.
    fn window(&self) -> u64;

    /// Whether it is content with how the session ended; a script is not when it had more to play.
    fn end(&mut self) -> Result<(), String>;
}

/// What an agent is told when its turn comes.
#[derive(Debug, Clone, Copy)]
pub struct TurnRequest<'a> {
    pub asked: &'a Asked,
    /// The calls of its last turn, with how they ended.
    pub answers: &'a [Answered<'a>],
    /// What somebody said to it since then.
    pub told: &'a [String],
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub say: String,
    pub calls: Vec<Call>,
    pub order: Order,
    pub usage: Usage,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// What the script says a command has to end with.
    pub expect_exit: Option<i32>,
}

/// Why a turn has no answer. Each has its own remedy, so each is its own case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("nothing came for {ms} ms")]
    Stalled { ms: u64 },
    #[error("the answer broke off")]
    CutOff,
    #[error("too many requests; try again later")]
    RateLimit,
    #[error("the provider is overloaded; try again later")]
    Overloaded,
    #[error("the usage limit is reached")]
    UsageLimit,
    #[error("the provider does not accept the key")]
    Auth,
    #[error("what came is no answer")]
    Garbage,
    /// The script and the world do not fit any more.
    #[error("{0}")]
    Unscripted(String),
}
