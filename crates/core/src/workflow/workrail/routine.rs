//! `templateCall`: the steps of a routine in the place of the step that calls it.

use super::reading::{Reader, model_tier, text, texts};
use super::step::Frame;
use crate::workflow::compile::{Argument, Call, Shared};
use crate::workflow::document::Node;
use crate::workflow::fields::Fields;
use crate::workflow::prompt::{Body, Notes, Prompt};
use crate::workflow::step::{Routine, Step, StepKind};
use crate::workflow::suggest::or_known;

const TEMPLATE_PREFIX: &str = "wr.templates.routine.";
const ROUTINE_PREFIX: &str = "wr.routine-";
/// Fields of a prompt that an expanded routine leaves no place for.
const REPLACED: &[&str] = &[
    "prompt",
    "promptBlocks",
    "promptFragments",
    "askForFiles",
    "hasValidation",
    "validationCriteria",
    "outputContract",
    "assessmentRefs",
    "assessmentConsequences",
    "notesOptional",
    "functionDefinitions",
    "functionCalls",
    "functionReferences",
    "audit",
    "verification",
];

impl Reader<'_> {
    pub(super) fn call(&self, fields: &mut Fields<'_>, frame: Frame, node: &Node) -> Option<Step> {
        self.warn_without_effect(fields, REPLACED, "templateCall");
        let shared =
            Shared { role: text(fields, "agentRole"), system_prompt: None, model: model_tier(fields) };
        let guidance = texts(fields, "guidance");
        let mut call = Fields::of(node, "`templateCall`", self.findings)?;
        let template = call.required("templateId")?;
        let name = call.required_text("templateId")?;
        let arguments: Vec<Argument> = call
            .entries("args")
            .iter()
            .map(|(key, node)| Argument {
                name: key.name.clone(),
                span: key.span.clone(),
                value: node.clone(),
            })
            .collect();
        call.finish();
        let Some(routine) = self.routine_id(&name) else {
            self.warn_missing_routine(&name, template);
            let kind = StepKind::Prompt(Box::new(instead(&name, &arguments)));
            return Some(Step { role: shared.role, guidance, model: shared.model, ..frame.step(kind) });
        };
        let call = Call { caller: &frame.id, routine: &routine, span: &template.span, arguments: &arguments };
        let mut expanded = self.context.expand(&call)?;
        let mut steps = std::mem::take(&mut expanded.steps);
        shared.give_to(&mut steps);
        give_guidance(&mut steps, &guidance);
        self.gathered.borrow_mut().routines.push((expanded, template.span.clone()));
        Some(frame.step(StepKind::Routine(Routine { routine, steps })))
    }

    fn warn_missing_routine(&self, name: &str, node: &Node) {
        let library = self.context.sources.library.keys();
        let known = library
            .filter_map(|id| id.strip_prefix(ROUTINE_PREFIX))
            .map(|id| format!("{TEMPLATE_PREFIX}{id}"));
        let known: Vec<String> = known.collect();
        let fix = or_known(name, known.iter().map(String::as_str).collect::<Vec<_>>());
        self.warn(
            &node.span,
            format!("no loaded source has the routine `{name}`; the agent is told so"),
            fix,
        );
    }

    /// The id of the workflow that a template stands for, if a source has it.
    fn routine_id(&self, template: &str) -> Option<String> {
        let by_name = template.strip_prefix(TEMPLATE_PREFIX).map(|name| format!("{ROUTINE_PREFIX}{name}"));
        let candidates = by_name.into_iter().chain([template.to_owned()]);
        candidates.into_iter().find(|id| self.context.sources.library.contains_key(id))
    }
}

/// What the agent is asked where the routine is not at hand: what the author wanted, as far as it is known.
fn instead(template: &str, arguments: &[Argument]) -> Prompt {
    let given = arguments.iter().map(|argument| {
        let value = &argument.value;
        let value = value.as_text().map_or_else(|| value.to_json().to_string(), str::to_owned);
        format!("- {}: {value}", argument.name)
    });
    let said = format!(
        "This step calls the routine `{template}`, which no loaded source has. Do by yourself what its name and the title of this step say."
    );
    let words = std::iter::once(said).chain(given).collect::<Vec<_>>().join("\n");
    Prompt::plain(Body::Text(words), Notes::Required)
}

fn give_guidance(steps: &mut [Step], guidance: &[String]) {
    for step in steps {
        if let StepKind::Prompt(_) = step.kind {
            step.guidance.splice(0..0, guidance.iter().cloned());
        }
        give_guidance(step.kind.inner_mut(), guidance);
    }
}
