//! Agents that Longhaul drives itself: what answers a turn, and what it may do in a checkout.
//!
//! An [`Agent`] is asked for turns and answers with words and calls; it touches nothing itself. The calls are
//! performed by [`tools`], each of which reaches no further than the checkout it was given.

mod asker;
mod own_loop;
mod rehearsal;
pub mod tools;
mod turn;

pub use asker::{Asker, Means, Nobody};
pub use own_loop::{Mind, ModelFacts, OwnLoop, RemoteMind, Telling, unreadable};
pub use rehearsal::Rehearsal;
pub use turn::{Agent, Call, Compaction, Fault, Foresight, Silence, Turn, TurnRequest};
