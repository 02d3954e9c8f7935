//! The server, driven by clients of both eras, in this process and without any.

mod client;
mod garbage;
mod gates;
mod leaf;
mod listing;
mod seeds;
mod walking;

#[path = "../../../../fuzz/src/mcp.rs"]
mod fuzz;
