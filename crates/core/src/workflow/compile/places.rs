//! Where the parts of a workflow stand in its file, for findings about the compiled form.

use std::collections::BTreeMap;
use std::ops::Range;

/// Spans by step id and, where it helps, by the field of the step.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// In the order of the file. An id that stands here twice is a duplicate.
    steps: Vec<(String, Range<usize>)>,
    /// The first of each id.
    by_id: BTreeMap<String, Range<usize>>,
    fields: BTreeMap<(String, &'static str), Range<usize>>,
    children: Vec<(String, Range<usize>)>,
}

impl Places {
    /// Notes a step, in the order of the file: the span of its id is best.
    pub fn step(&mut self, id: &str, span: &Range<usize>) {
        self.steps.push((id.to_owned(), span.clone()));
        self.by_id.entry(id.to_owned()).or_insert_with(|| span.clone());
    }

    /// Notes where a field of a step stands, by the name that it has in the native format: `when`, `jumpIf` and its
    /// `to`, `confirm`, `references`, `requires`, `title`, `prompt`, `fragments`, `loop`, `todo`, `run`, `gate` …
    pub fn field(&mut self, step: &str, field: &'static str, span: &Range<usize>) {
        self.fields.insert((step.to_owned(), field), span.clone());
    }

    /// Notes which workflow a step starts as a child, and where that is said.
    pub fn child(&mut self, workflow: &str, span: &Range<usize>) {
        self.children.push((workflow.to_owned(), span.clone()));
    }

    /// Every workflow that is started as a child.
    pub fn children(&self) -> &[(String, Range<usize>)] {
        &self.children
    }

    /// The field's place, or else that of the step.
    pub fn of(&self, step: &str, field: &'static str) -> Range<usize> {
        let exact = self.fields.get(&(step.to_owned(), field));
        exact.cloned().unwrap_or_else(|| self.of_step(step))
    }

    pub fn of_step(&self, step: &str) -> Range<usize> {
        self.by_id.get(step).cloned().unwrap_or(0..0)
    }

    /// Every step that was noted, with its place.
    pub fn steps(&self) -> &[(String, Range<usize>)] {
        &self.steps
    }
}
