//! From source texts to one compiled workflow: read, expand routines, check the whole.

mod checks;
mod mentions;
mod places;
mod routine;
mod substitute;

use std::cell::Cell;
use std::collections::BTreeMap;

pub(crate) use mentions::is_path;
pub use places::Places;
pub(super) use routine::prefix_ids;
pub use routine::{Argument, Call, Shared};

use super::diagnostic::{Diagnostic, Outcome};
use super::document::{self, Node, NodeValue};
use super::fields::{Findings, Strays};
use super::{Format, Workflow, native, workrail};

/// The version of the native format that this build knows whole.
pub const NATIVE_VERSION: u64 = 1;

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

/// What a front end may look at while it reads one file, and where it reports.
#[derive(Debug)]
pub struct Context<'c> {
    pub sources: &'c Sources,
    pub findings: &'c Findings,
    /// The routines that are being expanded, outermost first.
    path: Vec<String>,
    fuel: &'c Cell<routine::Fuel>,
}

/// What a front end made of one file: the workflow, with routines expanded, and where its parts stand.
#[derive(Debug)]
pub struct Draft {
    pub workflow: Workflow,
    pub places: Places,
}

/// Compiles one file. The front end follows from the text: a root key `longhaul` makes it native.
pub fn compile(source: &Source, sources: &Sources) -> Outcome<Workflow> {
    let root = match document::parse(&source.text, source.syntax) {
        Ok(root) => root,
        Err(diagnostic) => return Outcome { value: None, diagnostics: vec![diagnostic] },
    };
    if let Err(diagnostic) = check_format(&root, source.syntax) {
        return Outcome { value: None, diagnostics: vec![diagnostic] };
    }
    let findings = Findings::new(strays_of(&root));
    let fuel = Cell::new(routine::Fuel::FULL);
    let context = Context { sources, findings: &findings, path: Vec::new(), fuel: &fuel };
    let draft = context.read(&root);
    if let Some(draft) = &draft {
        checks::check(draft, &root, &context);
    }
    let refused = findings.has_errors();
    Outcome {
        value: draft.filter(|_| !refused).map(|draft| draft.workflow),
        diagnostics: findings.into_sorted(),
    }
}

/// Every key that reading this file asks for, whether it is there or not.
#[cfg(test)]
pub(super) fn asked_keys(source: &Source, sources: &Sources) -> std::collections::BTreeSet<&'static str> {
    let root = document::parse(&source.text, source.syntax).expect("a good text");
    let findings = Findings::new(strays_of(&root));
    let fuel = Cell::new(routine::Fuel::FULL);
    Context { sources, findings: &findings, path: Vec::new(), fuel: &fuel }.read(&root);
    findings.asked.into_inner()
}

impl Context<'_> {
    fn read(&self, root: &Node) -> Option<Draft> {
        match format_of(root) {
            Format::Native => native::read(root, self),
            Format::WorkRail => workrail::read(root, self),
        }
    }
}

fn format_of(root: &Node) -> Format {
    if root.get("longhaul").is_some() { Format::Native } else { Format::WorkRail }
}

/// WorkRail files are JSON, so YAML without our mark is a file of ours that forgot it.
fn check_format(root: &Node, syntax: Syntax) -> Result<(), Diagnostic> {
    if root.get("longhaul").is_some() || syntax == Syntax::Json {
        return Ok(());
    }
    let at = root.span.start..root.span.start;
    let message = "this file does not say that it is a workflow";
    Err(Diagnostic::error(at, message).fix("begin it with a line `longhaul: 1`"))
}

/// A newer version may have keys that this build does not know, and WorkRail files in the wild have more keys than
/// their schema.
fn strays_of(root: &Node) -> Strays {
    match root.get("longhaul").map(|node| &node.value) {
        Some(NodeValue::Number(version)) if version.as_u64().is_some_and(|it| it > NATIVE_VERSION) => {
            Strays::Warn
        }
        Some(_) => Strays::Refuse,
        None => Strays::Warn,
    }
}
