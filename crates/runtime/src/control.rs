//! What can be asked of an installation, by the command line and through the doors of a daemon: both get the same.
//!
//! Plain functions over the two façades. Whoever is an agent may look at everything and change nothing.

mod queue;
mod tasks;
mod triggers;

use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use crate::terminal;

pub use queue::{Entered, NewEntry, QueueMove, QueuedTask};
pub use tasks::{Retried, find_task};
pub use triggers::{OnRecord, TriggerOnRecord};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Person,
    /// Started by a session, served by our MCP server, or behind walls.
    Agent,
}

impl Caller {
    /// Whoever runs this process.
    pub fn here() -> Self {
        if terminal::is_under_agent() { Self::Agent } else { Self::Person }
    }

    /// The name under which it goes on record, if it may change anything.
    pub fn person(self) -> Result<String, Error> {
        match self {
            Self::Person => Ok(terminal::user_name()),
            Self::Agent => Err(Error::UnderAgent),
        }
    }
}

/// An installation, as one caller may use it.
#[derive(Debug, Clone, Copy)]
pub struct Control<'a> {
    pub system: &'a System,
    pub commands: &'a Commands,
    pub caller: Caller,
}
