//! The flowchart for pages that draw Mermaid. Simpler than the drawing: Mermaid lays it out as it likes.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::workflow::Workflow;
use crate::workflow::step::{Parallel, Step, StepKind};

use super::facts::{self, Shown};
use super::measure::clean;
use super::words;

/// A Mermaid flowchart. Ids are numbered, so no step id can collide with another one or with Mermaid's own words.
pub fn mermaid(workflow: &Workflow) -> String {
    let mut chart =
        Chart { lines: Vec::new(), entries: BTreeMap::new(), jumps: Vec::new(), count: 0, depth: 1 };
    chart.line("start([\"start\"])");
    let loose = chart.list(&workflow.steps, vec![Loose::from("start")]);
    chart.line("finish([\"end\"])");
    chart.connect(loose, "finish");
    chart.jumps();
    let mut out = String::from("flowchart TD\n");
    for line in chart.lines {
        writeln!(out, "{line}").expect("a string takes everything");
    }
    out
}

/// A way that has no end yet.
struct Loose {
    from: String,
    /// Said on the arrow, when it is not the ordinary way.
    label: Option<&'static str>,
}

impl From<&str> for Loose {
    fn from(from: &str) -> Self {
        Self { from: from.to_owned(), label: None }
    }
}

struct Chart<'a> {
    lines: Vec<String>,
    /// Step id → where ways into it go.
    entries: BTreeMap<&'a str, String>,
    jumps: Vec<(String, &'a Step)>,
    count: usize,
    depth: usize,
}

impl<'a> Chart<'a> {
    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    fn id(&mut self, step_id: &str) -> String {
        self.count += 1;
        let kept: String = step_id
            .chars()
            .map(|character| if character.is_ascii_alphanumeric() { character } else { '_' })
            .collect();
        format!("n{}_{kept}", self.count)
    }

    fn connect(&mut self, loose: Vec<Loose>, to: &str) {
        for Loose { from, label } in loose {
            match label {
                None => self.line(&format!("{from} --> {to}")),
                Some(label) => self.line(&format!("{from} -. \"{label}\" .-> {to}")),
            }
        }
    }

    fn list(&mut self, steps: &'a [Step], mut loose: Vec<Loose>) -> Vec<Loose> {
        for step in steps {
            loose = self.step(step, loose);
        }
        loose
    }

    fn step(&mut self, step: &'a Step, loose: Vec<Loose>) -> Vec<Loose> {
        let Some(condition) = facts::only_if(step) else {
            return self.body(step, loose);
        };
        let id = self.id(&step.id);
        self.line(&format!("{id}{{\"{}\"}}", escape(&condition)));
        self.connect(loose, &id);
        self.entries.insert(&step.id, id.clone());
        let mut out = self.body(step, vec![Loose::from(id.as_str())]);
        out.push(Loose { from: id, label: Some("otherwise") });
        out
    }

    fn body(&mut self, step: &'a Step, loose: Vec<Loose>) -> Vec<Loose> {
        let id = self.id(&step.id);
        self.entries.entry(&step.id).or_insert_with(|| id.clone());
        if step.jump.is_some() {
            self.jumps.push((id.clone(), step));
        }
        match &step.kind {
            StepKind::Loop(_) | StepKind::Todo(_) => self.repeated(step, &id, loose),
            StepKind::Routine(_) => self.grouped(step, &id, loose),
            StepKind::Parallel(parallel) => self.parallel(step, parallel, Way { id: &id, loose }),
            StepKind::Prompt(_) => self.leaf(step, ["(", ")"], Way { id: &id, loose }),
            StepKind::Gate(_) => self.leaf(step, ["{{", "}}"], Way { id: &id, loose }),
            StepKind::Run(_)
            | StepKind::Gather(_)
            | StepKind::Spawn(_)
            | StepKind::Decide(_)
            | StepKind::Deliver(_) => self.leaf(step, ["[[", "]]"], Way { id: &id, loose }),
        }
    }

    fn leaf(&mut self, step: &Step, [open, close]: [&str; 2], way: Way<'_>) -> Vec<Loose> {
        self.line(&format!("{}{open}\"{}\"{close}", way.id, label(step)));
        self.connect(way.loose, way.id);
        self.confirmed(step, way.id)
    }

    fn confirmed(&mut self, step: &Step, id: &str) -> Vec<Loose> {
        let Some(confirmation) = facts::confirmation(step) else {
            return vec![Loose::from(id)];
        };
        let confirm = format!("{id}_confirm");
        self.line(&format!("{confirm}[/\"{}\"/]", escape(&confirmation)));
        self.line(&format!("{id} --> {confirm}"));
        vec![Loose::from(confirm.as_str())]
    }

    fn open(&mut self, step: &Step, id: &str) {
        let name = if step.title.is_empty() { &step.id } else { &step.title };
        self.line(&format!("subgraph {id}_box[\"{}: {}\"]", step.kind.word(), escape(name)));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("end");
    }

    fn repeated(&mut self, step: &'a Step, id: &str, loose: Vec<Loose>) -> Vec<Loose> {
        self.open(step, id);
        self.line(&format!("{id}[/\"{}\"\\]", label(step)));
        let loose_inside = self.list(step.kind.inner(), vec![Loose::from(id)]);
        let again = loose_inside.into_iter().map(|way| Loose { label: way.label.or(Some("again")), ..way });
        self.connect(again.collect(), id);
        self.close();
        self.connect(loose, id);
        self.confirmed(step, id)
    }

    fn grouped(&mut self, step: &'a Step, id: &str, loose: Vec<Loose>) -> Vec<Loose> {
        self.open(step, id);
        self.line(&format!("{id}[\"{}\"]", label(step)));
        let mut loose_inside = self.list(step.kind.inner(), vec![Loose::from(id)]);
        if facts::confirmation(step).is_some() || step.jump.is_some() {
            let end = format!("{id}_end");
            self.line(&format!("{end}((\" \"))"));
            self.connect(loose_inside, &end);
            self.jumps.iter_mut().filter(|(from, _)| from == id).for_each(|(from, _)| from.clone_from(&end));
            loose_inside = self.confirmed(step, &end);
        }
        self.close();
        self.connect(loose, id);
        loose_inside
    }

    fn parallel(&mut self, step: &'a Step, parallel: &Parallel, way: Way<'_>) -> Vec<Loose> {
        let id = way.id;
        self.open(step, id);
        self.line(&format!("{id}[[\"{}\"]]", label(step)));
        let join = format!("{id}_join");
        self.line(&format!("{join}[\"{}\"]", escape(&facts::join(parallel))));
        for (index, child) in parallel.children.iter().enumerate() {
            let facts = drawn(&facts::child(child));
            self.line(&format!("{id}_{index}[[\"{}{facts}\"]]", escape(&child.workflow)));
            self.line(&format!("{id} --> {id}_{index} --> {join}"));
        }
        if parallel.children.is_empty() {
            self.line(&format!("{id} --> {join}"));
        }
        let mut last = join;
        if let (Some(prompt), Some(step)) = (parallel.asked(), parallel.synthesis.as_deref()) {
            let synthesis = format!("{id}_synthesis");
            let (word, facts) = (step.kind.word(), drawn(&facts::synthesis(prompt)));
            self.line(&format!("{synthesis}(\"{word}: {}{facts}\")", escape(&step.id)));
            self.line(&format!("{last} --> {synthesis}"));
            last = synthesis;
        }
        self.close();
        self.connect(way.loose, id);
        self.jumps.iter_mut().filter(|(from, _)| from == id).for_each(|(from, _)| from.clone_from(&last));
        self.confirmed(step, &last)
    }

    fn jumps(&mut self) {
        for (from, step) in std::mem::take(&mut self.jumps) {
            let Some(jump) = &step.jump else { continue };
            let Some(to) = self.entries.get(jump.to.as_str()).cloned() else { continue };
            let often = words::counted(u64::from(jump.max_jumps), "time");
            let said = format!("if {}, at most {often}", words::condition(&jump.when));
            self.line(&format!("{from} -. \"{}\" .-> {to}", escape(&said)));
        }
    }
}

/// A node that is being written, and the ways that lead to it.
struct Way<'a> {
    id: &'a str,
    loose: Vec<Loose>,
}

fn label(step: &Step) -> String {
    let title = if step.title.is_empty() || step.title == step.id {
        String::new()
    } else {
        format!("<br/>{}", escape(&step.title))
    };
    format!("{}: {}{title}{}", step.kind.word(), escape(&step.id), drawn(&facts::of(step)))
}

fn drawn(facts: &[facts::Fact]) -> String {
    let mut out = String::new();
    for fact in facts.iter().filter(|fact| fact.shown == Shown::Everywhere) {
        out.push_str("<br/>");
        out.push_str(&escape(&fact.text));
    }
    out
}

/// Mermaid reads `#name;` in quoted labels. Everything that it or a browser could take for markup is written so.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for character in clean(text).chars() {
        match character {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '#' | '`' | '\\' | '*' | '~' | '%' | '$' => {
                write!(out, "#{};", character as u32).expect("a string takes everything");
            }
            plain => out.push(plain),
        }
    }
    out
}
