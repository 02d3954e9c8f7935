//! A workflow to look at before it is run: as a tree of text, as a drawing, as a Mermaid flowchart.
//!
//! Nothing here judges: what was compiled is shown, also where it cannot run. Drawings are the same on every machine.

mod facts;
pub mod layout;
mod measure;
mod mermaid;
mod shape;
mod svg;
#[cfg(test)]
mod tests;
mod tree;
pub mod words;

pub use layout::{Layout, layout};
pub use mermaid::mermaid;
pub use svg::{STYLE, svg, svg_standalone};
pub use tree::text;
