//! Which vars can be set by the time a step looks at them.
//!
//! A warning, not an error: a condition on a var that is never set is false, and that may be meant.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checks, is_judged_after, mentions};
use crate::workflow::Vars;
use crate::workflow::diagnostic::Severity;
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
        let first_setters = self.first_setters();
        let seen_from = self.seen_from();
        for (position, flat) in self.flat.iter().enumerate() {
            for mention in mentions::of_step(flat.step) {
                if self.context.findings.is_full(Severity::Warning) {
                    return;
                }
                let name = mention.root();
                if name == ALWAYS || given.contains(name) || mention.has_default {
                    continue;
                }
                let place = self.draft.places.of(&flat.step.id, mention.field);
                match first_setters.get(name) {
                    None if declared.contains_key(name) => {}
                    None => {
                        let message = format!("nothing in this workflow sets `{name}`");
                        let fix = unknown_fix(name, declared.keys().map(String::as_str));
                        self.context.findings.warning(&place, message, fix);
                    }
                    Some(setter) => {
                        let own = if is_judged_after(&mention) { flat.last + 1 } else { position };
                        if *setter >= own.max(seen_from[position]) {
                            let message = format!("`{name}` is set only by a later step");
                            let fix = "move one of the two, or declare it in `vars`";
                            self.context.findings.warning(&place, message, fix);
                        }
                    }
                }
            }
        }
    }

    /// Var → the first step that sets it.
    fn first_setters(&self) -> BTreeMap<&str, usize> {
        let mut setters = BTreeMap::new();
        for (position, flat) in self.flat.iter().enumerate() {
            for name in set_by(&flat.step.kind) {
                setters.entry(name).or_insert(position);
            }
        }
        setters
    }

    /// For each step, where the steps end whose results it can see: those before it, and all of a loop, a list or a
    /// jump's way back around it, since it can come again after them.
    fn seen_from(&self) -> Vec<usize> {
        let mut seen: Vec<usize> = (0..self.flat.len()).collect();
        let mut widen = |from: usize, last: usize| {
            for end in &mut seen[from..=last] {
                *end = (*end).max(last + 1);
            }
        };
        for (position, flat) in self.flat.iter().enumerate() {
            if matches!(flat.step.kind, StepKind::Loop(_) | StepKind::Todo(_)) {
                widen(position, flat.last);
            }
            if let Some(jump) = &flat.step.jump
                && let Some(target) = self.flat.iter().position(|to| to.step.id == jump.to)
            {
                widen(target.min(position), flat.last.max(target));
            }
        }
        seen
    }
}

fn unknown_fix<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    match closest(name, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("declare `{name}` in `vars`, or let an earlier step produce it"),
    }
}

/// The vars that a step sets itself, apart from the steps inside it.
pub(super) fn set_by(kind: &StepKind) -> Vec<&str> {
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
        StepKind::Routine(_) => Vec::new(),
        StepKind::Deliver(deliver) => deliver.into.iter().map(String::as_str).collect(),
        StepKind::Decide(decide) => vec![&decide.into],
        StepKind::Run(run) => run.into.iter().map(String::as_str).collect(),
        StepKind::Gather(gather) => vec![&gather.into],
        StepKind::Gate(gate) => match &gate.by {
            GateBy::Check(run) => run.into.iter().map(String::as_str).collect(),
            GateBy::Person | GateBy::Coordinator { .. } => Vec::new(),
        },
        StepKind::Parallel(parallel) => parallel.into.iter().map(String::as_str).collect(),
        StepKind::Spawn(spawn) => spawn.into.iter().map(String::as_str).collect(),
    }
}

fn set_by_prompt(prompt: &Prompt) -> Vec<&str> {
    let outputs = prompt.outputs.iter().filter_map(|output| output.into.as_deref());
    prompt.produces.keys().map(String::as_str).chain(outputs).collect()
}
