//! The native front end: `longhaul: 1`.

use super::compile::{Context, Draft};
use super::document::Node;

/// Reads a native file.
pub fn read(root: &Node, context: &Context<'_>) -> Option<Draft> {
    context.findings.error(&root.span, "the native format is not written yet", "wait for the merge");
    None
}
