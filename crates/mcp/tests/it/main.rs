//! The server, driven by clients of both eras, in this process and without any.

mod client;
mod garbage;
mod gates;
mod listing;
mod walking;
mod leaf;
mod seeds;

#[path = "../../../../fuzz/src/mcp.rs"]
mod fuzz;
