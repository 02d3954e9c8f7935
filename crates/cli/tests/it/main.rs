//! The binary as people and scripts meet it: arguments in, exit code, standard output and standard error out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod carrying;
mod configuration;
mod damage;
mod help;
mod log;
mod pipes;
mod redacting;
mod replacing;
mod support;
mod terminal;
mod trust;
mod usage;
mod workflow;
mod workspace;
