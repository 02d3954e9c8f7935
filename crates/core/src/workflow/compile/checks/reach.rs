//! Which vars can be set by the time a step looks at them.
//!
//! A warning, not an error: a condition on a var that is never set is false, and that may be meant.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::{Checks, Flat, Mention, is_judged_after, mentions};
use crate::workflow::Vars;
use crate::workflow::document::Node;
use crate::workflow::prompt::Prompt;
use crate::workflow::step::{GateBy, LoopOver, StepKind};
use crate::workflow::suggest::closest;

/// Given with every session.
const ALWAYS: &str = "goal";

impl Checks<'_> {
    /// Reports every mention of a var that nothing can have set by then.
    pub(super) fn reach(&self, root: &Node) {
        let Vars::Declared(declared) = &self.draft.workflow.vars else { return };
        let given: BTreeSet<&str> = root
            .get("vars")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .map(|(key, _)| key.name.as_str())
            .collect();
        let setters = self.setters();
        let again = self.comes_again();
        for (position, flat) in self.flat.iter().enumerate() {
            for mention in mentions::of_step(flat.step) {
                let name = mention.root();
                if name == ALWAYS || given.contains(name) || mention.has_default {
                    continue;
                }
                let place = self.draft.places.of(&flat.step.id, mention.field);
                let Some(by) = setters.get(name) else {
                    if !declared.contains_key(name) {
                        let fix = unknown_fix(name, declared.keys().map(String::as_str));
                        let message = format!("nothing in this workflow sets `{name}`");
                        self.context.findings.warning(&place, message, fix);
                    }
                    continue;
                };
                if !by.iter().any(|setter| can_see((position, flat), *setter, &mention, &again)) {
                    let message = format!("`{name}` is set only by a later step");
                    self.context.findings.warning(
                        &place,
                        message,
                        "move one of the two, or declare it in `vars`",
                    );
                }
            }
        }
    }

    /// Var → the steps that set it.
    fn setters(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut setters: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (position, flat) in self.flat.iter().enumerate() {
            for name in set_by(&flat.step.kind) {
                setters.entry(name).or_default().push(position);
            }
        }
        setters
    }

    /// Stretches of steps that can be walked more than once: loops, lists, and what a jump goes back over.
    fn comes_again(&self) -> Vec<RangeInclusive<usize>> {
        let mut again = Vec::new();
        for (position, flat) in self.flat.iter().enumerate() {
            if matches!(flat.step.kind, StepKind::Loop(_) | StepKind::Todo(_)) {
                again.push(position..=flat.last);
            }
            if let Some(jump) = &flat.step.jump
                && let Some(target) = self.flat.iter().position(|to| to.step.id == jump.to)
            {
                again.push(target.min(position)..=flat.last.max(target));
            }
        }
        again
    }
}

fn unknown_fix<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match closest(name, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("declare `{name}` in `vars`, or let an earlier step produce it"),
    }
}

fn can_see(
    (position, flat): (usize, &Flat<'_>),
    setter: usize,
    mention: &Mention,
    again: &[RangeInclusive<usize>],
) -> bool {
    setter < position
        || (is_judged_after(mention) && (position..=flat.last).contains(&setter))
        || again.iter().any(|stretch| stretch.contains(&position) && stretch.contains(&setter))
}

/// The vars that a step sets itself, apart from the steps inside it.
fn set_by(kind: &StepKind) -> Vec<&str> {
    match kind {
        StepKind::Prompt(prompt) => set_by_prompt(prompt),
        StepKind::Loop(repeat) => {
            let mut names = vec![repeat.iteration_var.as_str()];
            if let LoopOver::Items { item_var, index_var, .. } = &repeat.over {
                names.extend([item_var.as_str(), index_var.as_str()]);
            }
            names
        }
        StepKind::Todo(todo) => vec![&todo.item_var, &todo.index_var],
        StepKind::Routine(_) | StepKind::Deliver(_) => Vec::new(),
        StepKind::Run(run) => run.into.iter().map(String::as_str).collect(),
        StepKind::Gather(gather) => vec![&gather.into],
        StepKind::Gate(gate) => match &gate.by {
            GateBy::Check(run) => run.into.iter().map(String::as_str).collect(),
            GateBy::Person | GateBy::Coordinator { .. } => Vec::new(),
        },
        StepKind::Parallel(parallel) => {
            parallel.synthesis.iter().flat_map(|prompt| set_by_prompt(prompt)).collect()
        }
        StepKind::Spawn(spawn) => spawn.into.iter().map(String::as_str).collect(),
    }
}

fn set_by_prompt(prompt: &Prompt) -> Vec<&str> {
    let outputs = prompt.outputs.iter().filter_map(|output| output.into.as_deref());
    prompt.produces.keys().map(String::as_str).chain(outputs).collect()
}
