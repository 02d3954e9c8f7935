//! The life of a daemon: it is started, seen to be healthy, told apart from one that died, replaced by a newer one, and ended
//! without taking its runners along. Must never say that a daemon runs because a file says so.
//!
//! What a daemon does is not known here: see [`Serve`].

mod binary;
mod folder;
mod idle;
mod lock;
mod notify;
mod report;
mod restart;
mod resting;
mod serve;
mod start;
mod status;
mod stop;
#[cfg(test)]
mod tests;
pub mod unit;
mod wish;

pub use binary::Binary;
pub(crate) use binary::own_program;
pub use idle::Idle;
pub use lock::Holder;
pub use report::{Counts, Report, Stage};
pub use restart::{RestartDaemon, Restarted};
pub use resting::{Left, Rested};
pub use serve::{Condition, Ended, Health, Serve, StartServing, check, serve};
pub use start::{StartDaemon, Started};
pub use status::{DaemonStatus, Presence};
pub use stop::Stopped;
pub use wish::Farewell;
