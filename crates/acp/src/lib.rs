//! Agents that have hands of their own: they are prompted, work by themselves, and end their turn.
//!
//! Two kinds. An agent that speaks the Agent Client Protocol is one process and one conversation for as long as its
//! [`Hands`] live; a plain command is started anew for each prompt. Both are programs that the caller has put behind
//! walls. Neither is believed: what it says is bounded, what it asks for is answered by a [`Policy`], how long it may
//! be silent is the caller's [`Watch`] to say, and its whole tree of processes is dead when the hands are.
//!
//! Must never touch the log, a file or the network, and never decide what comes next.

mod command;
mod dialogue;
mod error;
mod hands;
mod lines;
mod policy;
mod record;
mod session;
mod turn;
mod v1;

pub use error::HandsError;
pub use hands::{Beginning, CommandStart, Ended, Hands, McpServer, Start};
pub use policy::{Answer, Policy};
pub use turn::{
    Call, Did, EndCause, Permission, PlanEntry, PlanStatus, TurnEnd, Update, Waiting, Watch, Window,
};
