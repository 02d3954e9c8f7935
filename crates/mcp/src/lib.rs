//! The MCP server: each tool is one command or one query.

pub mod protocol;
