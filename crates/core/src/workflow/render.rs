//! What an agent reads: one step as one Markdown text.

use super::scope::Scope;
use super::{Step, Workflow, template};

/// A step, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub title: String,
    pub prompt: String,
}

/// What the reader has seen already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// The first step of a session.
    Start,
    /// Somebody takes the session up again.
    Resume,
    Later,
}

/// Writes one step out for the agent that does it.
pub fn step(workflow: &Workflow, step: &Step, scope: &Scope<'_>, opening: Opening) -> Rendered {
    let _ = (workflow, opening);
    let title = template::render(&step.title, scope);
    Rendered { prompt: title.clone(), title }
}
