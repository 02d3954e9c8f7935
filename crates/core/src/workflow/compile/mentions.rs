//! Which vars a step looks at: in conditions, templates, lists and `requires`.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use crate::workflow::condition::{Condition, Test};
use crate::workflow::prompt::{Blocks, Body, Prompt};
use crate::workflow::step::{Child, Count, GateBy, LoopOver, Run, RunWhat, Step, StepKind};
use crate::workflow::template::{self, TemplatePath, TemplateProblem};

/// Where in a step a var is mentioned, by the names that [`super::Places`] uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mention {
    pub field: &'static str,
    pub path: String,
    /// Whether the text says what stands there while the var is not set.
    pub has_default: bool,
}

impl Mention {
    /// The var itself: `plan` of `plan.slices`.
    pub(super) fn root(&self) -> &str {
        root_of(&self.path)
    }
}

/// A value that a condition asks of a var.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparison {
    pub field: &'static str,
    pub path: String,
    pub value: Value,
}

pub(super) fn root_of(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The vars that these steps and those inside them mention.
pub(super) fn roots_in(steps: &[Step]) -> BTreeSet<String> {
    let mut roots = BTreeSet::new();
    for step in steps {
        roots.extend(of_step(step).iter().map(|mention| mention.root().to_owned()));
        roots.extend(roots_in(step.kind.inner()));
    }
    roots
}

/// What one step mentions, without the steps inside it.
pub(super) fn of_step(step: &Step) -> BTreeSet<Mention> {
    look_at(step).mentions
}

/// The values that the conditions of one step ask for.
pub(super) fn comparisons_of(step: &Step) -> Vec<Comparison> {
    look_at(step).comparisons
}

/// What looks like a template in a step's texts and is none, with the field.
pub(super) fn problems_of(step: &Step) -> Vec<(&'static str, TemplateProblem)> {
    look_at(step).problems
}

fn look_at(step: &Step) -> Found {
    let mut found = Found::default();
    found.condition("when", step.when.as_ref());
    found.condition("jumpIf", step.jump.as_ref().map(|jump| &jump.when));
    found.condition("confirm", step.confirm.as_ref().and_then(|confirm| confirm.when.as_ref()));
    found.template("title", &step.title);
    step.role.iter().for_each(|text| found.template("role", text));
    step.guidance.iter().for_each(|text| found.template("guidance", text));
    step.system_prompt.iter().for_each(|text| found.template("systemPrompt", text));
    step.requires.iter().for_each(|path| found.path("requires", path));
    found.kind(&step.kind);
    found
}

#[derive(Default)]
struct Found {
    mentions: BTreeSet<Mention>,
    problems: Vec<(&'static str, TemplateProblem)>,
    comparisons: Vec<Comparison>,
}

impl Found {
    fn kind(&mut self, kind: &StepKind) {
        match kind {
            StepKind::Prompt(prompt) => self.prompt("prompt", prompt),
            StepKind::Loop(repeat) => self.over(&repeat.over),
            StepKind::Todo(todo) => self.path("todo", &todo.list),
            StepKind::Routine(_) | StepKind::Gather(_) => {}
            StepKind::Run(run) => self.run("run", run),
            StepKind::Gate(gate) => {
                self.template("gate", &gate.question);
                match &gate.by {
                    GateBy::Person => {}
                    GateBy::Coordinator { accept } => {
                        accept.iter().for_each(|condition| self.condition("gate", Some(condition)));
                    }
                    GateBy::Check(run) => self.run("gate", run),
                }
            }
            StepKind::Parallel(parallel) => {
                parallel.children.iter().for_each(|child| self.child("parallel", child));
            }
            StepKind::Spawn(spawn) => self.child("spawn", &spawn.child),
            StepKind::Decide(decide) => decide.with.values().for_each(|value| self.value("decide", value)),
            StepKind::Deliver(deliver) => {
                deliver.settings.values().for_each(|value| self.value("deliver", value));
            }
        }
    }

    fn prompt(&mut self, field: &'static str, prompt: &Prompt) {
        match &prompt.body {
            Body::Text(text) => self.template(field, text),
            Body::Blocks(Blocks { goal, constraints, procedure, output_required, verify }) => {
                goal.iter()
                    .chain(constraints)
                    .chain(procedure)
                    .chain(verify)
                    .for_each(|text| self.template(field, text));
                output_required.iter().for_each(|(_, text)| self.template(field, text));
            }
        }
        for fragment in &prompt.fragments {
            self.condition("fragments", fragment.when.as_ref());
            self.template("fragments", &fragment.text);
        }
    }

    fn over(&mut self, over: &LoopOver) {
        match over {
            LoopOver::While(condition) | LoopOver::Until(condition) => {
                self.condition("loop", Some(condition));
            }
            LoopOver::Control { .. } | LoopOver::Count(Count::Fixed(_)) => {}
            LoopOver::Count(Count::Var(path)) => self.path("loop", path),
            LoopOver::Items { list, .. } => self.path("loop", list),
        }
    }

    fn run(&mut self, field: &'static str, run: &Run) {
        match &run.what {
            RunWhat::Command(words) => words.iter().for_each(|word| self.template(field, word)),
            RunWhat::Checks(_) | RunWhat::Declared(_) => {}
        }
        run.dir.iter().for_each(|dir| self.template(field, dir));
    }

    fn child(&mut self, field: &'static str, child: &Child) {
        self.condition(field, child.when.as_ref());
        child.goal.iter().for_each(|goal| self.template(field, goal));
        child.for_each.iter().for_each(|items| self.path(field, &items.list));
        let item = child.for_each.as_ref().map(|items| items.item_var.as_str());
        let mut inner = Found::default();
        child.with.values().for_each(|value| inner.value(field, value));
        self.mentions.extend(inner.mentions.into_iter().filter(|mention| Some(mention.root()) != item));
        self.problems.extend(inner.problems);
    }

    fn value(&mut self, field: &'static str, value: &Value) {
        match value {
            Value::String(text) => self.template(field, text),
            Value::Array(items) => items.iter().for_each(|item| self.value(field, item)),
            Value::Object(entries) => entries.values().for_each(|entry| self.value(field, entry)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn condition(&mut self, field: &'static str, condition: Option<&Condition>) {
        match condition {
            None => {}
            Some(Condition::All(inner) | Condition::Any(inner)) => {
                inner.iter().for_each(|one| self.condition(field, Some(one)));
            }
            Some(Condition::Not(inner)) => self.condition(field, Some(inner)),
            Some(Condition::Var { path, tests }) => {
                self.path(field, path);
                let values = tests.iter().flat_map(compared);
                let comparison =
                    |value: &Value| Comparison { field, path: path.clone(), value: value.clone() };
                self.comparisons.extend(values.map(comparison));
            }
        }
    }

    fn template(&mut self, field: &'static str, text: &str) {
        for TemplatePath { path, has_default, .. } in template::paths(text) {
            self.mentions.insert(Mention { field, path, has_default });
        }
        self.problems.extend(template::problems(text).into_iter().map(|problem| (field, problem)));
    }

    fn path(&mut self, field: &'static str, path: &str) {
        self.mentions.insert(Mention { field, path: path.to_owned(), has_default: false });
    }
}

/// The values that a test asks for as a whole.
fn compared(test: &Test) -> &[Value] {
    match test {
        Test::Equals(value) | Test::NotEquals(value) => std::slice::from_ref(value),
        Test::In(values) => values,
        Test::Gt(_)
        | Test::Gte(_)
        | Test::Lt(_)
        | Test::Lte(_)
        | Test::Contains(_)
        | Test::StartsWith(_)
        | Test::EndsWith(_)
        | Test::Matches(_) => &[],
    }
}

/// One `{{path | filters}}` of a template, and where it stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression<'t> {
    pub range: Range<usize>,
    pub path: String,
    /// With their bar, or nothing.
    pub filters: &'t str,
}

/// The expressions of a template. What only looks like one is text.
pub(super) fn expressions(text: &str) -> Vec<Expression<'_>> {
    let expression = |found: TemplatePath| {
        let whole = &text[found.span.clone()];
        let filters = whole.find('|').map_or("", |bar| whole[bar..].trim_end_matches('}').trim_end());
        Expression { range: found.span, path: found.path, filters }
    };
    template::paths(text).into_iter().map(expression).collect()
}

/// `ident(.ident)*`; an identifier may hold dashes and digits, as in `wr.bindings.slot` or `list.0`.
pub(crate) fn is_path(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '$'))
        && text.split('.').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_in_double_braces_are_expressions() {
        let text = "{{ a.b | json }} {x} {{}} {{not a path}} {{{c}}} {{open";
        let found: Vec<_> = expressions(text).iter().map(|it| format!("{}{}", it.path, it.filters)).collect();
        assert_eq!(found, ["a.b| json", "c"]);
    }
}
