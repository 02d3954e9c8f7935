//! From source texts to one compiled workflow: read, expand routines, check the whole.

use std::collections::BTreeMap;

use super::Workflow;
use super::diagnostic::Outcome;

/// All texts that one compilation may look at. The shell has read them.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Workflows and routines by id, for `use:`, `templateCall` and delegations.
    pub library: BTreeMap<String, Source>,
    /// WorkRail slots that the workspace binds.
    pub bindings: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// For messages only.
    pub name: String,
    pub text: String,
    pub syntax: Syntax,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    Yaml,
    Json,
}

/// Compiles one file. The front end follows from the text: a root key `longhaul` makes it native.
pub fn compile(source: &Source, sources: &Sources) -> Outcome<Workflow> {
    let _ = (source, sources);
    todo!("front ends")
}
