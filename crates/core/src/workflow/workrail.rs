//! The WorkRail front end: files in that format, unmodified, become the one compiled form.
//!
//! Every field of the format is honoured or warned about with its place; nothing is dropped in silence. Files in the
//! wild have more fields than their schema, and longer texts, so both are warnings here.

mod assess;
mod bindings;
mod blocks;
mod condition;
mod confirm;
mod functions;
mod limits;
mod parallel;
mod prompt;
mod reading;
mod repeat;
mod root;
mod routine;
mod rules;
pub mod schema;
mod standard;
mod step;

use super::compile::{Context, Draft};
use super::document::Node;

/// Reads a WorkRail file.
pub fn read(root: &Node, context: &Context<'_>) -> Option<Draft> {
    let root = bindings::resolve(root, context);
    limits::check(&root, context.findings);
    root::read(&root, context)
}

#[cfg(test)]
pub(crate) mod tests;
