//! The protocol without any tool of ours: lines in, lines out, or HTTP, around any handler.
//!
//! The SDK (`rmcp`) speaks the revisions of MCP. What is here is what it leaves open: input that is no message,
//! lines without an end, clients that vanish, who may reach the port. Nothing here knows what a workflow is, so
//! that the fixtures of the conformance suite are served by the very same code.

mod connections;
mod guard;
mod http;
mod id;
mod lines;
mod message;
mod seats;
mod stdio;
mod unanswered;

pub use guard::{Guard, Token};
pub use http::{Http, one_by_one, serve_http};
pub use lines::{Line, Lines};
pub use message::{Incoming, MOST_BYTES, MOST_VALUES, read, too_long};
pub use seats::MOST_SESSIONS;
pub use stdio::serve_lines;
pub use unanswered::MOST_UNANSWERED;

use std::borrow::Cow;

use rmcp::model::ProtocolVersion;

/// The revisions that we answer to. What is older had batches and no structured content.
pub const VERSIONS: [ProtocolVersion; 3] =
    [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// For a handler to say which revisions it speaks.
pub const fn versions() -> Cow<'static, [ProtocolVersion]> {
    Cow::Borrowed(&VERSIONS)
}
