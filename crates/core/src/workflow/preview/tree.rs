//! The text form: a tree of steps, with everything that decides about each in words below it.

use std::fmt::Write;

use crate::workflow::step::{Parallel, Step, StepKind};
use crate::workflow::{Format, Vars, Workflow};

use super::measure::clean;
use super::shape::shape;
use super::{facts, words};

/// A workflow as a tree of text. Control characters of the file are dropped; every text stays on one line.
pub fn text(workflow: &Workflow) -> String {
    let mut out = String::new();
    head(workflow, &mut out);
    let branches: Vec<Branch<'_>> = workflow.steps.iter().map(Branch::Step).collect();
    grow(&branches, "", &mut out);
    out
}

fn head(workflow: &Workflow, out: &mut String) {
    let format = match workflow.format {
        Format::Native => "native",
        Format::WorkRail => "WorkRail",
    };
    let category = workflow.category.as_ref().map(|category| format!(", {category}")).unwrap_or_default();
    line(out, &workflow.name);
    line(out, &format!("{} {} ({format}{category})", workflow.id, workflow.version));
    if !workflow.about.is_empty() {
        line(out, &workflow.about);
    }
    if let Some(budget) = &workflow.budget {
        line(out, &format!("budget: {}", facts::budget(budget)));
    }
    if let Vars::Declared(vars) = &workflow.vars {
        for (name, declaration) in vars {
            let required = if declaration.required { ", required" } else { "" };
            let default =
                declaration.default.as_ref().map(|value| format!(", {value} unless set")).unwrap_or_default();
            let kind = words::var_type(&declaration.kind);
            line(out, &format!("var {name}: {kind}{required}{default}"));
        }
    }
    for (name, contract) in &workflow.contracts {
        line(out, &format!("contract {name}: {}", shape(&contract.schema)));
    }
    out.push('\n');
}

fn line(out: &mut String, text: &str) {
    out.push_str(&clean(text));
    out.push('\n');
}

/// Something with a place of its own in the tree.
enum Branch<'a> {
    Step(&'a Step),
    Leaf { head: String, facts: Vec<facts::Fact> },
}

impl<'a> Branch<'a> {
    fn head(&self) -> String {
        match self {
            Self::Step(step) if step.title.is_empty() || step.title == step.id => {
                format!("[{}] {}", step.kind.word(), step.id)
            }
            Self::Step(step) => format!("[{}] {}: {}", step.kind.word(), step.id, step.title),
            Self::Leaf { head, .. } => head.clone(),
        }
    }

    fn notes(&self) -> Vec<String> {
        match self {
            Self::Step(step) => {
                let said = facts::of(step).into_iter().map(|fact| fact.text);
                facts::only_if(step).into_iter().chain(said).chain(facts::confirmation(step)).collect()
            }
            Self::Leaf { facts, .. } => facts.iter().map(|fact| fact.text.clone()).collect(),
        }
    }

    fn inner(&self) -> Vec<Branch<'a>> {
        match self {
            Self::Step(Step { kind: StepKind::Parallel(parallel), .. }) => children(parallel),
            Self::Step(step) => step.kind.inner().iter().map(Branch::Step).collect(),
            Self::Leaf { .. } => Vec::new(),
        }
    }
}

fn children<'a>(parallel: &Parallel) -> Vec<Branch<'a>> {
    let sessions = parallel.children.iter().map(|child| Branch::Leaf {
        head: format!("[session] {}", child.workflow),
        facts: facts::child(child),
    });
    let join = Branch::Leaf { head: format!("[join] {}", facts::join(parallel)), facts: Vec::new() };
    let synthesis = parallel.asked().zip(parallel.synthesis.as_deref()).map(|(prompt, step)| Branch::Leaf {
        head: format!("[{}] {}", step.kind.word(), step.id),
        facts: facts::synthesis(prompt),
    });
    sessions.chain([join]).chain(synthesis).collect()
}

fn grow(branches: &[Branch<'_>], indent: &str, out: &mut String) {
    for (index, branch) in branches.iter().enumerate() {
        let is_last = index + 1 == branches.len();
        let (fork, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let inner = branch.inner();
        writeln!(out, "{indent}{fork}{}", clean(&branch.head())).expect("a string takes everything");
        let stem = if inner.is_empty() { "   " } else { "│  " };
        for note in branch.notes() {
            writeln!(out, "{indent}{below}{stem}{}", clean(&note)).expect("a string takes everything");
        }
        grow(&inner, &format!("{indent}{below}"), out);
    }
}
