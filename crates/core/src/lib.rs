//! The pure core: which facts a command would add, what state facts amount to, what that state wants.
//!
//! Nothing here reads a clock, a file, the network or a source of randomness; time, ids and random bytes
//! arrive inside commands. What is here can be tested by giving it values and comparing values.

pub mod briefing;
pub mod budget;
pub mod canonical;
pub mod cassette;
pub mod chain;
pub mod config;
pub mod conversation;
pub mod delivery;
pub mod handle;
pub mod hosts;
pub mod inbox;
pub mod init;
pub mod intake;
pub mod metrics;
pub mod notify;
pub mod outcome;
pub mod parking;
pub mod plain;
pub mod policy;
pub mod progress;
pub mod proof;
pub mod question;
pub mod queue;
pub mod recovery;
pub mod retention;
pub mod roster;
pub mod schedule;
pub mod scrub;
pub mod service;
pub mod session;
pub mod spans;
pub mod stats;
pub mod succession;
pub mod taint;
pub mod task;
pub mod time;
pub mod transcript;
pub mod trigger;
pub mod trust;
pub mod units;
pub mod verification;
pub mod walk;
pub mod workflow;
pub mod workspace;
pub mod yaml_edit;
