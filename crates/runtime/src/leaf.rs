//! The tools of an agent that works on exactly one session: one table, whoever serves it.
//!
//! Our own loop and the MCP server offer the same rows. A tool names no session: it is given the one that it may
//! touch, and there is no argument with which it could reach another.

mod complete;
mod read;
mod report;

use longhaul_core::walk::view::StepView;
use longhaul_events::{Reason, SessionId};
use serde_json::{Map, Value};

use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;

/// One row: what an agent is told, and the command behind it.
pub struct LeafTool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub input: fn() -> Value,
    pub effect: LeafEffect,
    pub run: fn(&Leaf<'_>, &Map<String, Value>) -> Result<LeafAnswer, Error>,
}

impl std::fmt::Debug for LeafTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeafTool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a call may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafEffect {
    Reads,
    /// Writes to the log; called twice with the same arguments, it writes once.
    RecordsOnce,
}

/// The session that an agent works on.
#[derive(Debug)]
pub struct Leaf<'a> {
    pub system: &'a System,
    pub commands: &'a Commands,
    pub session: SessionId,
}

#[derive(Debug, Clone)]
pub enum LeafAnswer {
    /// Where the session stands now.
    Step(Box<StepView>),
    /// Anything else, with the words for it.
    Said { words: String, value: Value },
}

/// What there is so far. Later parts add rows.
pub const TOOLS: [LeafTool; 6] =
    [complete::TOOL, report::ISSUE, report::WORKFLOW_BUG, report::FACT, report::QUESTION, read::TOOL];

/// A text that must be there.
fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, Error> {
    let given = arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    given.ok_or_else(|| {
        let message = format!("`{name}` is missing or no text");
        Error::BadAnswer(vec![Reason::new("missing_argument", message, format!("give a text for `{name}`"))])
    })
}

/// Refuses what the tool does not know: a field that is dropped in silence is work lost.
fn only(arguments: &Map<String, Value>, known: &[&str]) -> Result<(), Error> {
    let unknown = arguments.keys().filter(|name| !known.contains(&name.as_str()));
    let reasons: Vec<Reason> = unknown
        .map(|name| {
            let message = format!("`{name}` is no argument of this tool");
            Reason::new("unknown_argument", message, format!("it takes {}", known.join(", ")))
        })
        .collect();
    if reasons.is_empty() { Ok(()) } else { Err(Error::BadAnswer(reasons)) }
}
