//! Cassettes: what the rehearsal agent plays, turn by turn, without a model.
//!
//! Strict on both sides: a file with an unknown key is refused, a turn that nobody scripted is an error that says
//! what was asked, and so is a scripted turn that nobody asked for.

mod file;
mod record;
mod shape;
mod tape;
#[cfg(test)]
mod tests;
mod write;

use serde_json::{Map, Value};

pub use file::parse;
pub use record::{Recorded, Recording};
pub use tape::{Tape, Unplayed, Unscripted};
pub(crate) use write::quoted;
pub use write::write;

use crate::budget::Pricing;

/// How many tokens the played model has room for, unless the file says otherwise.
const DEFAULT_WINDOW: u64 = 200_000;

/// A whole script.
#[derive(Debug, Clone, PartialEq)]
pub struct Cassette {
    pub window: u64,
    /// What the played turns cost; nothing unless the file says so.
    pub pricing: Pricing,
    /// How much the played model may answer at most. With it a turn is judged beforehand as one of a model is; without
    /// it the script says what the turn will use.
    pub max_output: Option<u64>,
    pub turns: Vec<Scripted>,
}

/// One turn of the script.
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted {
    pub when: When,
    pub say: String,
    pub usage: Usage,
    pub act: Act,
    /// Nobody minds if it is never asked for.
    pub optional: bool,
}

/// Which requests a turn answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct When {
    pub workflow: Option<String>,
    pub step: Option<String>,
    /// The how-manieth time the step is reached.
    pub visit: Option<u32>,
}

/// Where a session stands when it asks for a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub workflow: String,
    pub step: String,
    pub visit: u32,
}

/// What a turn does beside talking.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Calls, run for real.
    Tools {
        calls: Vec<ScriptedCall>,
        order: Order,
    },
    /// Hands the step in.
    Complete(Map<String, Value>),
    Fault(Fault),
    /// Talks and does nothing, as models do.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    OneByOne,
    AtOnce,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// What a command has to end with, or the script does not fit the world any more.
    pub expect_exit: Option<i32>,
}

/// What a turn would have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
}

/// What goes wrong instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nothing comes for this long, then the turn fails.
    Stall {
        ms: u64,
    },
    /// The answer breaks off after its words.
    CutStream,
    Error(Failure),
    /// Bytes that are no answer.
    Garbage,
    /// The last calls once more, this many times.
    Repeat {
        times: u32,
    },
}

/// How a provider refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    RateLimit,
    Overloaded,
    UsageLimit,
    Auth,
}

/// A file that is no cassette.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is no cassette that can be played: {problem}")]
pub struct Error {
    pub path: String,
    pub problem: String,
}

impl When {
    fn fits(&self, asked: &Asked) -> bool {
        let says = |wanted: &Option<String>, given: &str| wanted.as_deref().is_none_or(|one| one == given);
        says(&self.workflow, &asked.workflow)
            && says(&self.step, &asked.step)
            && self.visit.is_none_or(|visit| visit == asked.visit)
    }
}
