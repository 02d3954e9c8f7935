//! What steps of every type have in common.

use super::condition;
use super::reading::{Reader, has};
use crate::workflow::MOST_STEPS;
use crate::workflow::condition::Condition;
use crate::workflow::document::Node;
use crate::workflow::fields::Fields;
use crate::workflow::prompt::Function;
use crate::workflow::step::{Confirm, Step, StepKind};
use crate::workflow::suggest::or_known;

/// What steps take from the loops around them.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    pub functions: Vec<Function>,
    pub notes_optional: bool,
    /// Loops that name their body and are being read, outermost first.
    pub bodies: Vec<String>,
}

/// What every step has beside its kind.
#[derive(Debug)]
pub(super) struct Frame {
    pub id: String,
    title: String,
    when: Option<Condition>,
    confirm: Option<Confirm>,
}

impl Frame {
    pub(super) fn step(self, kind: StepKind) -> Step {
        Step { when: self.when, confirm: self.confirm, ..Step::plain(self.id, self.title, kind) }
    }
}

#[derive(Clone, Copy)]
enum Type {
    Standard,
    Loop,
    Parallel,
}

impl Reader<'_> {
    pub(super) fn step(&self, node: &Node, around: &Around) -> Option<Step> {
        self.count_step(node)?;
        let mut fields = Fields::of(node, "a step", self.findings)?;
        let kind = self.type_of(&mut fields, node);
        let frame = self.frame(&mut fields)?;
        let step = match kind {
            Type::Standard => self.standard(&mut fields, frame, around),
            Type::Loop => self.repeat(&mut fields, frame, around),
            Type::Parallel => self.parallel(&mut fields, frame, around),
        };
        fields.finish();
        step
    }

    /// A body that is named by several loops is read for each; that must not grow without end.
    fn count_step(&self, node: &Node) -> Option<()> {
        let mut gathered = self.gathered.borrow_mut();
        gathered.steps += 1;
        if gathered.steps == MOST_STEPS + 1 {
            let message = format!("with this step the workflow has more than {MOST_STEPS} steps");
            let fix = "split the workflow, or let fewer loops share a body";
            self.findings.error(&node.span, message, fix);
        }
        (gathered.steps <= MOST_STEPS).then_some(())
    }

    fn type_of(&self, fields: &mut Fields<'_>, node: &Node) -> Type {
        let looks = if has(node, "loop") {
            Type::Loop
        } else if has(node, "parallelDelegations") {
            Type::Parallel
        } else {
            Type::Standard
        };
        let Some(word) = super::reading::text(fields, "type") else {
            let telling = |key: &str| matches!(key, "loop" | "parallelDelegations");
            if let Some((key, _)) = node.entries().iter().find(|(key, _)| telling(&key.name)) {
                let message = format!("a step with `{}` should say its `type`", key.name);
                self.warn(&key.span, message, "add `\"type\": \"loop\"` or `\"type\": \"parallel\"`");
            }
            return looks;
        };
        match word.as_str() {
            "loop" => Type::Loop,
            "parallel" => Type::Parallel,
            "standard" | "step" | "prompt" => looks,
            _ => {
                let span = node.get("type").map_or(&node.span, |node| &node.span);
                self.findings.error(
                    span,
                    format!("there is no step type `{word}`"),
                    or_known(&word, ["loop", "parallel"]),
                );
                looks
            }
        }
    }

    fn frame(&self, fields: &mut Fields<'_>) -> Option<Frame> {
        let id = fields.required_text("id")?;
        let span = fields.raw("id").map_or_else(|| fields.span().clone(), |node| node.span.clone());
        self.gathered.borrow_mut().places.step(&id, &span);
        let title = fields.required_text("title").unwrap_or_else(|| id.clone());
        let keys = [("runCondition", "when"), ("requireConfirmation", "confirm"), ("title", "title")];
        for (key, field) in keys {
            if let Some(node) = fields.raw(key) {
                self.place(&id, field, &node.span);
            }
        }
        let when = fields.node("runCondition").and_then(|node| condition::read(node, self.findings));
        let confirm = self.confirm(fields);
        Some(Frame { id, title, when, confirm })
    }
}
