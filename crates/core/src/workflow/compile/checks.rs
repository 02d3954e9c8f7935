//! Checks of the whole workflow, after routines were expanded: what no single step can show.

mod reach;
mod values;

use std::collections::BTreeSet;

use super::mentions::{self, Mention};
use super::{Context, Draft};
use crate::workflow::document::Node;
use crate::workflow::step::{Step, StepKind};
use crate::workflow::suggest::or_known;
use crate::workflow::{Format, MOST_LEVELS, VarWriter, Vars};

/// The most steps of one workflow when all routines are expanded.
const MOST_EXPANDED_STEPS: usize = 5000;

/// Reports everything that is wrong with the whole.
pub(super) fn check(draft: &Draft, root: &Node, context: &Context<'_>) {
    let checks = Checks { draft, context, flat: flatten(&draft.workflow.steps) };
    checks.duplicates();
    checks.size();
    checks.jumps();
    checks.references();
    checks.children();
    checks.templates();
    if let Format::Native = draft.workflow.format {
        checks.produced_by_agents();
        checks.reach(root);
        checks.values();
    }
}

struct Checks<'c> {
    draft: &'c Draft,
    context: &'c Context<'c>,
    flat: Vec<Flat<'c>>,
}

/// A step among all steps, outer ones first, in the order of the file.
struct Flat<'c> {
    step: &'c Step,
    /// The positions of the steps around it, outermost first.
    around: Vec<usize>,
    /// The position of the last step inside it, or its own.
    last: usize,
}

fn flatten(steps: &[Step]) -> Vec<Flat<'_>> {
    fn gather<'c>(steps: &'c [Step], around: &[usize], flat: &mut Vec<Flat<'c>>) {
        for step in steps {
            let position = flat.len();
            flat.push(Flat { step, around: around.to_vec(), last: position });
            let mut inside = around.to_vec();
            inside.push(position);
            gather(step.kind.inner(), &inside, flat);
            flat[position].last = flat.len() - 1;
        }
    }
    let mut flat = Vec::new();
    gather(steps, &[], &mut flat);
    flat
}

impl Checks<'_> {
    fn duplicates(&self) {
        let mut seen = BTreeSet::new();
        for (id, span) in self.draft.places.steps() {
            if !id.is_empty() && !seen.insert(id) {
                let message = format!("two steps have the id `{id}`");
                self.context.findings.error(span, message, "rename one of them, and what refers to it");
            }
        }
    }

    fn size(&self) {
        if self.flat.len() > MOST_EXPANDED_STEPS {
            let message = format!("with its routines the workflow has more than {MOST_EXPANDED_STEPS} steps");
            self.context.findings.error(&(0..0), message, "spawn sessions of their own for parts of it");
        }
        if let Some(deep) = self.flat.iter().find(|flat| flat.around.len() >= MOST_LEVELS) {
            let message = format!("with its routines, steps lie more than {MOST_LEVELS} levels deep");
            let place = self.draft.places.of_step(&deep.step.id);
            self.context.findings.error(&place, message, "flatten the loops and routines around it");
        }
    }

    /// A jump goes to a step of its own list or of one around it; never into something.
    fn jumps(&self) {
        for from in &self.flat {
            let Some(jump) = &from.step.jump else { continue };
            let place = self.draft.places.of(&from.step.id, "to");
            let Some(to) = self.flat.iter().find(|flat| flat.step.id == jump.to) else {
                let known: Vec<&str> = self.flat.iter().map(|flat| flat.step.id.as_str()).collect();
                let message = format!("there is no step `{}` to jump to", jump.to);
                self.context.findings.error(&place, message, or_this(&jump.to, known));
                continue;
            };
            if !from.around.starts_with(&to.around) {
                let inside = to.around.last().map(|position| self.flat[*position].step);
                let inside =
                    inside.map(|step| format!("{} `{}`", step.kind.word(), step.id)).unwrap_or_default();
                let message = format!("`{}` lies inside the {inside}, where no jump can lead", jump.to);
                self.context.findings.error(
                    &place,
                    message,
                    "jump to a step before it, or to the step around it",
                );
            }
        }
    }

    fn references(&self) {
        let known: Vec<&str> = self.draft.workflow.references.iter().map(|it| it.id.as_str()).collect();
        for flat in &self.flat {
            for id in flat.step.references.iter().filter(|id| !known.contains(&id.as_str())) {
                let place = self.draft.places.of(&flat.step.id, "references");
                self.dangling(&place, format!("there is no reference `{id}`"), or_known(id, known.clone()));
            }
        }
    }

    fn children(&self) {
        let library = &self.context.sources.library;
        for (workflow, span) in self.draft.places.children() {
            if library.contains_key(workflow) || workflow.contains("{{") {
                continue;
            }
            let fix = or_this(workflow, library.keys().map(String::as_str).collect());
            self.dangling(span, format!("no loaded source has the workflow `{workflow}`"), fix);
        }
    }

    /// An error in our own format; in WorkRail's a warning, since files in the wild name what others have.
    fn dangling(&self, span: &std::ops::Range<usize>, message: String, fix: String) {
        match self.draft.workflow.format {
            Format::Native => self.context.findings.error(span, message, fix),
            Format::WorkRail => self.context.findings.warning(span, message, fix),
        }
    }

    /// What looks like a template and is none.
    fn templates(&self) {
        for flat in &self.flat {
            for (field, problem) in mentions::problems_of(flat.step) {
                let place = self.draft.places.of(&flat.step.id, field);
                self.context.findings.warning(&place, problem.message, problem.fix);
            }
        }
    }

    /// An agent cannot be asked for a var that only the engine sets.
    fn produced_by_agents(&self) {
        let Vars::Declared(vars) = &self.draft.workflow.vars else { return };
        for flat in &self.flat {
            let StepKind::Prompt(prompt) = &flat.step.kind else { continue };
            for name in prompt.produces.keys() {
                if vars.get(name).is_some_and(|var| var.writer == VarWriter::Engine) {
                    let place = self.draft.places.of(&flat.step.id, "produces");
                    let message = format!("`{name}` is set by the engine, so no agent can produce it");
                    self.context.findings.error(&place, message, "give one of the two another name");
                }
            }
        }
    }
}

/// "Did you mean", without a long list of what else there is.
fn or_this(wrong: &str, known: Vec<&str>) -> String {
    match crate::workflow::suggest::closest(wrong, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None => "write it, or take this out".to_owned(),
    }
}

/// Whether a mention is judged after its step is done, when what the step set can be seen.
fn is_judged_after(mention: &Mention) -> bool {
    matches!(mention.field, "jumpIf" | "confirm" | "loop" | "synthesis")
}
