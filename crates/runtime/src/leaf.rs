//! The tools of an agent that works on exactly one session: one table, whoever serves it.
//!
//! Our own loop and the MCP server offer the same rows. A tool names no session: it is given the one that it may
//! touch, and there is no argument with which it could reach another.

mod arguments;
mod complete;
mod read;
mod report;
mod spawn;
mod write;

use longhaul_core::walk::view::StepView;
use longhaul_events::{Epoch, SessionId};
use serde_json::{Map, Value};

use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;

/// One row: what an agent is told, and the command behind it.
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub input: fn() -> Value,
    pub effect: Effect,
    run: fn(&Leaf<'_>, &Map<String, Value>) -> Result<Told, Error>,
}

impl Tool {
    /// Runs it, if the arguments are what agents were told to give.
    pub fn call(&self, leaf: &Leaf<'_>, arguments: &Map<String, Value>) -> Result<Told, Error> {
        let reasons = arguments::unfit(&(self.input)(), arguments);
        if !reasons.is_empty() {
            return Err(Error::BadAnswer(reasons));
        }
        let given = arguments.iter().filter(|(_, value)| !value.is_null());
        (self.run)(leaf, &given.map(|(name, value)| (name.clone(), value.clone())).collect())
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a call may change, of any tool that agents have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Reads,
    /// Writes to the log; called twice with the same arguments, it writes once.
    RecordsOnce,
    Records,
}

/// The session that an agent works on.
#[derive(Debug)]
pub struct Leaf<'a> {
    pub system: &'a System,
    pub commands: &'a Commands,
    pub session: SessionId,
    /// The driver that prompts the agent step by step, if it is one of ours.
    pub driver: Option<Epoch>,
}

/// What a call came to.
#[derive(Debug, Clone)]
pub enum Told {
    /// Where the session stands now.
    Step(Box<StepView>),
    /// Anything else, with the words for it.
    Said { words: String, value: Value },
}

/// What there is so far. Later parts add rows.
pub const TOOLS: [Tool; 8] = [
    complete::TOOL,
    report::ISSUE,
    report::WORKFLOW_BUG,
    report::FACT,
    report::QUESTION,
    read::TOOL,
    write::TOOL,
    spawn::TOOL,
];

/// A text; that it is there was seen before.
fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}
