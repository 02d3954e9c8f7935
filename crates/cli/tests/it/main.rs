//! The binary as people and scripts meet it: arguments in, exit code, standard output and standard error out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod again;
mod agent;
mod artifact;
mod carrying;
mod children;
mod configuration;
mod damage;
mod delivery;
mod demo;
mod driven;
mod first_run;
mod gate;
mod gateway;
mod hands;
mod help;
mod init;
mod limits;
mod log;
mod mcp;
mod models;
mod pipes;
mod redacting;
mod replacing;
mod run;
mod running;
mod sandbox;
mod secret;
mod session;
mod spawning;
mod stopping;
mod support;
mod takeover;
mod task;
mod terminal;
mod trust;
mod usage;
mod verification;
mod vouching;
mod walking;
mod workers;
mod workflow;
mod workspace;
mod worktree;
