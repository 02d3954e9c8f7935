//! The MCP server: each tool is one command or one query.
//!
//! [`protocol`] speaks MCP and knows no tool; [`Longhaul`] is the handler that has ours. Nothing here stores: what
//! writes goes through the façades of `runtime`.

mod arguments;
mod attach;
mod call;
mod desk;
mod gate;
mod gateway;
mod name;
mod prompts;
pub mod protocol;
mod refusal;
mod rehydrate;
mod reply;
mod resources;
mod serve;
mod server;
mod tools;
mod waiting;
mod words;

pub use attach::attach;
pub use gateway::leaf_door;
pub use serve::{HttpOptions, serve_http, serve_stdio};
pub use server::{Limits, Longhaul, Profile};
