//! What an agent may do in its checkout, one tool to a file.
//!
//! A tool answers with text for the agent. What the agent can put right (a wrong path, a text that is not there) is a
//! [`Complaint`] and goes back to it; what it cannot (the checkout is gone) ends the session and is a [`Broken`].

mod bash;
mod edit;
mod glob;
mod grep;
mod read;
mod room;
mod write;

use std::path::Path;

use longhaul_core::scrub::Scrubber;
use longhaul_exec::{Captured, EDGE_BYTES, Program};
use serde_json::{Map, Value};

pub use room::{Rights, Room};

/// What is broken when a command cannot even be started.
pub const CANNOT_RUN: &str = "cannot run the command";
/// What is broken when nobody may go into the folder that a command is run in.
pub const CANNOT_ENTER: &str = "cannot enter the folder";

/// How much one answer may hold. Longer ones are cut, and say so.
pub const MOST_OUTPUT_BYTES: usize = 64 * 1024;

/// One tool: what an agent is told of it, and what it does.
#[derive(Clone, Copy)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    pub input: fn() -> Value,
    needs: Needs,
    run: fn(&Desk<'_>, &Map<String, Value>) -> Result<Answer, ToolError>,
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tool").field(&self.name).finish()
    }
}

/// What a tool needs of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Reading,
    Changing,
    /// Commands: what they change is held by walls, or by nobody.
    Running,
}

/// Where the tools work.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    pub room: &'a Room,
    /// Puts the walls around a command that the agent wants run, and whatever stops it with the session.
    pub walls: &'a dyn Walls,
    /// Takes secrets out before anything is cut: what is left of one at a cut is not recognised any more.
    pub scrubber: &'a Scrubber,
}

impl Desk<'_> {
    fn clean(&self, text: &str) -> String {
        self.scrubber.text(text).into_owned()
    }

    /// What a command printed, without secrets.
    fn printed(&self, captured: &Captured) -> String {
        let edge_bytes = EDGE_BYTES.max(self.scrubber.longest_bytes());
        captured.to_clean_text(edge_bytes, |text| self.clean(&text))
    }

    /// The beginning of a text that is too long, and how much there is of it.
    fn cut(&self, text: &str, remedy: &str) -> String {
        let text = self.clean(text);
        if text.len() <= MOST_OUTPUT_BYTES {
            return text;
        }
        let end = text.floor_char_boundary(MOST_OUTPUT_BYTES);
        format!("{}\n[cut here, {} bytes in all; {remedy}]", &text[..end], text.len())
    }
}

/// Runs commands for the `bash` tool, inside whatever the session's policy puts around them.
pub trait Walls: std::fmt::Debug + Sync {
    fn run(&self, program: Program) -> Result<longhaul_exec::Finished, longhaul_exec::Error>;
}

/// What a tool has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    /// How a command ended; never guessed from what it printed.
    pub exit: Option<i32>,
}

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error(transparent)]
    Complaint(#[from] Complaint),
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Something that the agent can do differently.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Complaint(pub String);

/// Something that no other call would make better.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct Broken {
    pub what: String,
    pub source: std::io::Error,
}

/// All of them, in the order in which an agent reads of them.
pub const TOOLS: [&Tool; 6] = [&read::TOOL, &write::TOOL, &edit::TOOL, &glob::TOOL, &grep::TOOL, &bash::TOOL];

impl Tool {
    /// Whether somebody with these rights has it at all.
    pub const fn is_for(&self, rights: Rights) -> bool {
        match (self.needs, rights) {
            (Needs::Reading, _) | (_, Rights::Change) | (Needs::Running, Rights::ReadBehindWalls) => true,
            (Needs::Changing, Rights::ReadBehindWalls | Rights::Read) | (Needs::Running, Rights::Read) => {
                false
            }
        }
    }

    pub fn call(&self, desk: &Desk<'_>, arguments: &Map<String, Value>) -> Result<Answer, ToolError> {
        if !self.is_for(desk.room.rights()) {
            return Err(complain(format!(
                "`{}` is not for you: these files are another session's, and you read them; say in your answer what should be done",
                self.name
            )));
        }
        let schema = (self.input)();
        let known = schema["properties"].as_object();
        let stranger = arguments.keys().find(|name| known.is_none_or(|known| !known.contains_key(*name)));
        if let Some(name) = stranger {
            let known: Vec<String> =
                known.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
            return Err(complain(format!(
                "`{}` has no argument `{name}`; it takes {}",
                self.name,
                known.join(", ")
            )));
        }
        (self.run)(desk, arguments)
    }
}

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.into_iter().find(|tool| tool.name == name)
}

fn complain(words: impl Into<String>) -> ToolError {
    Complaint(words.into()).into()
}

fn said(text: impl Into<String>) -> Answer {
    Answer { text: text.into(), exit: None }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, ToolError> {
    optional_text(arguments, name)?.ok_or_else(|| complain(format!("give a text for `{name}`")))
}

fn optional_text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, ToolError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(complain(format!("`{name}` must be a text"))),
    }
}

fn number(arguments: &Map<String, Value>, name: &str) -> Result<Option<u64>, ToolError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| complain(format!("`{name}` must be a whole number from 0 on"))),
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
