//! Routines: the steps of another file, put in the place of the step that calls them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::mentions::roots_in;
use super::substitute::substitute;
use super::{Context, Draft, Source, check_format, document, strays_of};
use crate::workflow::diagnostic::Diagnostic;
use crate::workflow::document::Node;
use crate::workflow::fields::Findings;
use crate::workflow::step::{LoopOver, Step, StepKind};
use crate::workflow::suggest::or_known;
use crate::workflow::{VarDeclaration, VarType, VarWriter, Vars, Workflow};

/// How many calls of routines one compilation may expand, and how many bytes of text, so that routines that call
/// routines cannot grow without end.
const MOST_CALLS: usize = 500;
const MOST_DEPTH: usize = 8;
const MOST_BYTES: usize = 4 << 20;
/// How many findings of a routine's file are told at the step that calls it.
const MOST_TOLD: usize = 3;

/// How much may still be expanded in this compilation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fuel {
    calls: usize,
    bytes: usize,
}

impl Fuel {
    pub(super) const FULL: Self = Self { calls: MOST_CALLS, bytes: MOST_BYTES };
}

/// A step that asks for a routine.
#[derive(Debug)]
pub struct Call<'c> {
    /// The id of the calling step.
    pub caller: &'c str,
    /// An id of the library.
    pub routine: &'c str,
    /// Where findings about the call belong.
    pub span: &'c Range<usize>,
    pub arguments: &'c [Argument],
}

#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub span: Range<usize>,
    pub value: Node,
}

impl Context<'_> {
    /// The routine with its arguments in place and its ids made `caller.step`. `None` after a finding.
    ///
    /// The front end takes the steps out and hands the rest to [`Draft::absorb`], once its own workflow stands.
    pub fn expand(&self, call: &Call<'_>) -> Option<Workflow> {
        let source = self.source_of(call)?;
        self.refuse_cycle(call)?;
        self.burn(call, source)?;
        let parsed = document::parse(&source.text, source.syntax);
        let root = match parsed.and_then(|root| check_format(&root, source.syntax).map(|()| root)) {
            Ok(root) => root,
            Err(diagnostic) => {
                self.tell(call, source, &diagnostic);
                return None;
            }
        };
        let root = substitute(&root, call, self.findings)?;
        let findings = Findings::new(strays_of(&root));
        let mut path = self.path.clone();
        path.push(call.routine.to_owned());
        let inner = Context { sources: self.sources, findings: &findings, path, fuel: self.fuel };
        let draft = inner.read(&root);
        let broken = findings.has_errors();
        let errors = findings.into_sorted().into_iter().filter(Diagnostic::is_error);
        errors.take(MOST_TOLD).for_each(|diagnostic| self.tell(call, source, &diagnostic));
        let mut workflow = draft.filter(|_| !broken)?.workflow;
        prefix_ids(&mut workflow.steps, call.caller);
        settle_root(&mut workflow);
        Some(workflow)
    }

    fn source_of(&self, call: &Call<'_>) -> Option<&Source> {
        let source = self.sources.library.get(call.routine);
        if source.is_none() {
            let known: Vec<&str> =
                self.sources.library.keys().map(String::as_str).filter(|id| id.contains("routine")).collect();
            let message = format!("no loaded source has the routine `{}`", call.routine);
            self.findings.error(call.span, message, or_known(call.routine, known));
        }
        source
    }

    fn refuse_cycle(&self, call: &Call<'_>) -> Option<()> {
        let Some(first) = self.path.iter().position(|id| id == call.routine) else {
            if self.path.len() < MOST_DEPTH {
                return Some(());
            }
            let message = format!("routines call routines more than {MOST_DEPTH} deep");
            self.findings.error(
                call.span,
                message,
                "call this one from further out, or write its steps here",
            );
            return None;
        };
        let mut way: Vec<String> = self.path[first..].iter().map(|id| format!("`{id}`")).collect();
        way.push(format!("`{}`", call.routine));
        let message = format!("routines call one another in a circle: {}", way.join(" → "));
        self.findings.error(call.span, message, "take one of these calls out, or write a loop");
        None
    }

    fn burn(&self, call: &Call<'_>, source: &Source) -> Option<()> {
        let fuel = self.fuel.get();
        let left =
            Fuel { calls: fuel.calls.saturating_sub(1), bytes: fuel.bytes.saturating_sub(source.text.len()) };
        self.fuel.set(left);
        if fuel.calls > 0 && fuel.bytes >= source.text.len() {
            return Some(());
        }
        self.findings.error(
            call.span,
            format!(
                "with their own calls, the routines come to more than {MOST_CALLS} calls or 4 MB of text"
            ),
            "call fewer routines, or spawn sessions of their own",
        );
        None
    }

    /// Says at the call what is wrong in the routine's file: only this file's places can be shown.
    fn tell(&self, call: &Call<'_>, source: &Source, diagnostic: &Diagnostic) {
        let place = diagnostic.place(&source.text);
        let message = format!(
            "in the routine `{}` ({}:{}:{}): {}",
            call.routine, source.name, place.line, place.column, diagnostic.message
        );
        let fix = diagnostic.fix.clone().unwrap_or_else(|| "put it right there".to_owned());
        self.findings.error(call.span, message, fix);
    }
}

/// Makes every id of these steps `caller.step`, with what refers to them.
pub(in crate::workflow) fn prefix_ids(steps: &mut [Step], caller: &str) {
    let mut ids = BTreeSet::new();
    gather_ids(steps, &mut ids);
    prefix(steps, caller, &ids);
}

fn gather_ids(steps: &[Step], ids: &mut BTreeSet<String>) {
    for step in steps {
        ids.insert(step.id.clone());
        gather_ids(step.kind.inner(), ids);
    }
}

fn prefix(steps: &mut [Step], caller: &str, ids: &BTreeSet<String>) {
    let renamed = |id: &str| if ids.contains(id) { format!("{caller}.{id}") } else { id.to_owned() };
    for step in steps {
        if let Some(jump) = &mut step.jump {
            jump.to = format!("{caller}.{}", jump.to);
        }
        match &mut step.kind {
            StepKind::Prompt(prompt) => {
                for assessment in prompt.assessments.iter_mut().filter(|it| it.id == step.id) {
                    assessment.id = renamed(&assessment.id);
                }
                if let Some(control) = &mut prompt.control {
                    control.loop_id = renamed(&control.loop_id);
                }
            }
            StepKind::Loop(repeat) => {
                if let LoopOver::Control { loop_id } = &mut repeat.over {
                    *loop_id = renamed(loop_id);
                }
            }
            StepKind::Todo(_)
            | StepKind::Routine(_)
            | StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Gate(_)
            | StepKind::Parallel(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => {}
        }
        step.id = format!("{caller}.{}", step.id);
        prefix(step.kind.inner_mut(), caller, ids);
    }
}

/// What a file says for all its steps goes to its steps: they are about to lie in another file.
fn settle_root(workflow: &mut Workflow) {
    let guidance = std::mem::take(&mut workflow.guidance);
    if let Some(first) = first_prompt(&mut workflow.steps) {
        first.guidance.splice(0..0, guidance);
    }
    let shared = Shared {
        system_prompt: workflow.system_prompt.take(),
        model: workflow.model.take(),
        ..Shared::default()
    };
    shared.give_to(&mut workflow.steps);
    // A file that declares no vars may set any that its steps look at, also inside one that declares its own.
    if workflow.vars == Vars::Open {
        workflow.vars = Vars::Declared(roots_in(&workflow.steps).into_iter().map(any_var).collect());
    }
}

fn first_prompt(steps: &mut [Step]) -> Option<&mut Step> {
    for step in steps {
        if let StepKind::Prompt(_) = step.kind {
            return Some(step);
        }
        if let Some(found) = first_prompt(step.kind.inner_mut()) {
            return Some(found);
        }
    }
    None
}

/// What the steps of a routine take over from around them unless they say it themselves.
#[derive(Debug, Clone, Default)]
pub struct Shared {
    pub role: Option<String>,
    pub system_prompt: Option<String>,
    pub model: Option<crate::workflow::ModelTier>,
}

impl Shared {
    pub fn give_to(&self, steps: &mut [Step]) {
        for step in steps {
            if let StepKind::Prompt(_) = step.kind {
                step.role = step.role.take().or_else(|| self.role.clone());
                step.system_prompt = step.system_prompt.take().or_else(|| self.system_prompt.clone());
                step.model = step.model.or(self.model);
            }
            self.give_to(step.kind.inner_mut());
        }
    }
}

impl Draft {
    /// Takes over what an expanded routine declares beside its steps. What this workflow says itself stands.
    pub fn absorb(&mut self, routine: Workflow, call: &Range<usize>, findings: &Findings) {
        if let (Vars::Declared(ours), Vars::Declared(theirs)) = (&mut self.workflow.vars, routine.vars) {
            for (name, declaration) in theirs {
                ours.entry(name).or_insert(declaration);
            }
        }
        for (name, contract) in routine.contracts {
            let ours = self.workflow.contracts.entry(name.clone()).or_insert_with(|| contract.clone());
            if *ours != contract {
                let message = format!("the routine `{}` has another contract `{name}`", routine.id);
                findings.error(call, message, "rename the contract here or there");
            }
        }
        for reference in routine.references {
            if !self.workflow.references.iter().any(|ours| ours.id == reference.id) {
                self.workflow.references.push(reference);
            }
        }
    }
}

fn any_var(name: String) -> (String, VarDeclaration) {
    let declaration =
        VarDeclaration { kind: VarType::Any, required: false, default: None, writer: VarWriter::Agent };
    (name, declaration)
}
