//! Agents with hands of their own: real processes that keep to their protocol, and such that do not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod command;
mod ending;
mod hostile;
mod starting;
mod support;
mod turns;
