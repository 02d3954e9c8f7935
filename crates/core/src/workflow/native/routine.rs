//! `use:` puts the steps of a routine in the place of a step.

use super::step::Reading;
use super::{MODELS, Reader};
use crate::workflow::compile::{Argument, Call, Shared};
use crate::workflow::prompt::Notes;
use crate::workflow::step::{Routine, Step, StepKind};

impl Reader<'_> {
    pub(super) fn routine_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let Reading { fields, id, .. } = reading;
        let name = fields.required_text("use");
        let span = fields.raw("use").map_or(fields.span(), |node| &node.span).clone();
        let arguments: Vec<Argument> = fields
            .entries("with")
            .iter()
            .map(|(key, node)| Argument {
                name: key.name.clone(),
                span: key.span.clone(),
                value: node.clone(),
            })
            .collect();
        let (outputs, control) = self.output(fields, id);
        let shared = Shared {
            role: fields.text("role"),
            system_prompt: fields.text("systemPrompt"),
            model: fields.choice("model", MODELS),
        };
        let guidance = fields.one_or_more_texts("guidance");
        let routine = self.library_id(&name?);
        let call = Call { caller: id, routine: &routine, span: &span, arguments: &arguments };
        let mut expanded = self.context.expand(&call)?;
        let mut steps = std::mem::take(&mut expanded.steps);
        shared.give_to(&mut steps);
        give_guidance(&guidance, &mut steps);
        if !outputs.is_empty() {
            let Some(StepKind::Prompt(last)) = last_prompt(&mut steps).map(|step| &mut step.kind) else {
                let message = format!("the routine `{routine}` has no prompt that could give an `output`");
                self.findings.error(&span, message, "put the `output` on a step of its own");
                return None;
            };
            last.outputs.extend(outputs);
            last.control = last.control.take().or(control);
            if last.notes == Notes::Required {
                last.notes = Notes::Optional;
            }
        }
        for step in all(&steps) {
            self.places.step(&step.id, &span);
        }
        self.routines.push((expanded, span));
        Some(StepKind::Routine(Routine { routine, steps }))
    }

    /// `routine.plan` is the routine of that id, or the bundled one.
    fn library_id(&self, name: &str) -> String {
        let library = &self.context.sources.library;
        let bundled = format!("lh.{name}");
        if !library.contains_key(name) && library.contains_key(&bundled) { bundled } else { name.to_owned() }
    }
}

/// What the caller says beside the routine is for all its prompts.
fn give_guidance(guidance: &[String], steps: &mut [Step]) {
    for step in steps {
        if let StepKind::Prompt(_) = step.kind {
            step.guidance.extend_from_slice(guidance);
        }
        give_guidance(guidance, step.kind.inner_mut());
    }
}

/// The prompt that is answered last when every step is walked in order.
fn last_prompt(steps: &mut [Step]) -> Option<&mut Step> {
    steps.iter_mut().rev().find_map(|step| match step.kind {
        StepKind::Prompt(_) => Some(step),
        _ => last_prompt(step.kind.inner_mut()),
    })
}

fn all(steps: &[Step]) -> Vec<&Step> {
    steps.iter().flat_map(|step| std::iter::once(step).chain(all(step.kind.inner()))).collect()
}
