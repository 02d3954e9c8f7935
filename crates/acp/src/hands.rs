//! The face of the crate: an agent that is started, prompted and ended, whichever kind it is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_exec::{Outcome, Program};

use crate::HandsError;
use crate::command::Plain;
use crate::policy::Policy;
use crate::session::Session;
use crate::turn::{TurnEnd, Watch};

/// An agent at work. Dropping it ends its processes and waits until they are dead; [`Hands::end`] also tells how.
#[derive(Debug)]
pub struct Hands(Kind);

#[derive(Debug)]
enum Kind {
    Acp(Box<Session>),
    Plain(Box<Plain>),
}

/// How to start an agent that speaks the Agent Client Protocol.
#[derive(Debug)]
pub struct Start<'a> {
    /// With its walls, its environment and its directory. What it reads is ours to say.
    pub program: Program,
    /// What it works on, by its full path.
    pub directory: &'a Path,
    /// Our own tools.
    pub mcp: Option<McpServer>,
    /// The id of a session that it was in before.
    pub resume: Option<&'a str>,
    pub policy: Policy,
    /// Chosen if the agent offers it by this name; else its own settings hold.
    pub model: Option<&'a str>,
    pub mode: Option<&'a str>,
    /// How long it may take to end a turn that it was told to stop.
    pub grace: Duration,
}

/// A server of tools that the agent starts by itself.
#[derive(Clone)]
pub struct McpServer {
    pub name: String,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// Names of variables without their values: a token is among them, and this may be logged.
impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("McpServer")
            .field("name", &self.name)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &names)
            .finish()
    }
}

/// How to start a plain command, anew for each prompt.
#[derive(Debug)]
pub struct CommandStart {
    /// With its walls, its environment and its directory, and without arguments.
    pub program: Program,
    /// `{prompt}` in them is replaced. If it is in none, the prompt comes on stdin.
    pub args: Vec<String>,
    pub grace: Duration,
}

/// Whether an agent knows what was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    New,
    Resumed,
}

/// How an agent ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// `None` if nothing was running.
    pub outcome: Option<Outcome>,
    /// The end of what it wrote to stderr.
    pub last_words: String,
    /// Processes of its tree, itself excepted, that were alive when it was ended.
    pub survivors_killed: usize,
}

impl Hands {
    /// Starts an agent and makes its session; answers when it can be prompted.
    pub fn start(start: &Start<'_>, watch: &dyn Watch) -> Result<Self, HandsError> {
        Session::start(start, watch).map(|session| Self(Kind::Acp(Box::new(session))))
    }

    /// Nothing runs before the first prompt.
    pub fn command(start: CommandStart) -> Self {
        Self(Kind::Plain(Box::new(Plain::new(start))))
    }

    /// The id under which an agent knows its session, to resume it later.
    pub fn session(&self) -> Option<&str> {
        match &self.0 {
            Kind::Acp(session) => Some(session.id()),
            Kind::Plain(_) => None,
        }
    }

    pub fn beginning(&self) -> Beginning {
        match &self.0 {
            Kind::Acp(session) => session.beginning(),
            Kind::Plain(_) => Beginning::New,
        }
    }

    /// The process of an agent that runs between prompts.
    pub fn process(&self) -> Option<u32> {
        match &self.0 {
            Kind::Acp(session) => session.process(),
            Kind::Plain(_) => None,
        }
    }

    /// Says this and waits until the agent has ended its turn.
    pub fn prompt(&mut self, text: &str, watch: &dyn Watch) -> Result<TurnEnd, HandsError> {
        match &mut self.0 {
            Kind::Acp(session) => session.prompt(text, watch),
            Kind::Plain(command) => command.prompt(text, watch),
        }
    }

    /// Ends all of its processes and sees them dead.
    pub fn end(self) -> Result<Ended, HandsError> {
        match self.0 {
            Kind::Acp(session) => session.end(),
            Kind::Plain(_) => Ok(Ended::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_debug_print_shows_no_value_of_a_variable() {
        let env = vec![("TOKEN".to_owned(), "hush".to_owned())];
        let server = McpServer { name: "longhaul".into(), program: "x".into(), args: Vec::new(), env };
        let printed = format!("{server:?}");
        assert!(printed.contains("TOKEN") && !printed.contains("hush"), "{printed}");
    }
}
