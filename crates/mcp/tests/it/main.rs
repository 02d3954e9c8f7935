//! The server, driven by clients of every era, in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod client;
mod conformance;
mod fixtures;
mod garbage;
mod gates;
mod hostile;
mod leaf;
mod listing;
mod seeds;
mod walking;

#[path = "../../../../fuzz/src/mcp.rs"]
mod fuzz;
