//! What an agent reads: one step as one Markdown text.
//!
//! Nothing that an author wrote for the agent may stay unseen. What is the engine's alone (jumps, attempts,
//! what follows from a level) is not here: it shows when it applies.

mod hand_in;
mod texts;

use serde_json::Value;

use super::prompt::{Audit, Blocks, Body, Function, Prompt, Verification};
use super::scope::Scope;
use super::step::ConfirmBy;
use super::{Budget, ModelTier, Reference, ResolveFrom, Step, StepKind, Workflow, template};

pub use texts::texts;

/// A step, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub title: String,
    pub prompt: String,
}

/// What the reader has seen already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// The first step of a session.
    Start,
    /// Somebody takes the session up again.
    Resume,
    Later,
}

/// Writes one step out for the agent that does it.
pub fn step(workflow: &Workflow, step: &Step, scope: &Scope<'_>, opening: Opening) -> Rendered {
    let title = one_line(&template::render(&step.title, scope));
    let mut page = Page { scope, text: format!("# {title}") };
    page.opening(workflow, opening);
    page.persona(step);
    match &step.kind {
        StepKind::Prompt(prompt) => page.prompt(prompt),
        StepKind::Gate(gate) => page.paragraph(&gate.question),
        StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => {}
    }
    page.list("Guidance for this step", &step.guidance);
    if let StepKind::Prompt(prompt) = &step.kind {
        page.aids(prompt);
    }
    page.references(workflow, step);
    page.terms(step);
    hand_in::write(&mut page, workflow, step);
    Rendered { title, prompt: page.text }
}

/// What somebody who takes a session up again should know beside its step.
pub fn taking_up(workflow: &Workflow, scope: &Scope<'_>) -> String {
    let mut page = Page { scope, text: String::new() };
    page.opening(workflow, Opening::Resume);
    page.text.trim_start().to_owned()
}

/// A text in the making. What authors wrote goes through the scope on its way in.
struct Page<'a> {
    scope: &'a Scope<'a>,
    text: String,
}

impl Page<'_> {
    fn fill(&self, text: &str) -> String {
        template::render(text, self.scope).trim_end().to_owned()
    }

    /// Adds text that is finished already.
    fn add(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.text.push_str("\n\n");
            self.text.push_str(text);
        }
    }

    fn paragraph(&mut self, text: &str) {
        let text = self.fill(text);
        self.add(&text);
    }

    fn list(&mut self, heading: &str, items: &[String]) {
        let lines = items.iter().map(|item| bullet("- ", &self.fill(item))).collect::<Vec<_>>();
        self.section(heading, &lines.join("\n"));
    }

    fn numbered(&mut self, heading: &str, items: &[String]) {
        let line = |(index, item): (usize, &String)| bullet(&format!("{}. ", index + 1), &self.fill(item));
        let lines: Vec<String> = items.iter().enumerate().map(line).collect();
        self.section(heading, &lines.join("\n"));
    }

    fn section(&mut self, heading: &str, body: &str) {
        if !body.trim().is_empty() {
            self.add(&format!("## {heading}"));
            self.add(body);
        }
    }

    fn opening(&mut self, workflow: &Workflow, opening: Opening) {
        match opening {
            Opening::Start => {
                self.add(&format!("## Workflow: {}", workflow.name));
                self.add(&workflow.catalog.description);
                self.add(&workflow.about);
                self.list("What must be so before you begin", &workflow.preconditions);
                self.list("Questions to settle first", &workflow.clarifications);
            }
            Opening::Resume => self.add(&format!("You take up the workflow {} again.", workflow.name)),
            Opening::Later => return,
        }
        self.list("Guidance for the whole workflow", &workflow.guidance);
        if let Some(system_prompt) = &workflow.system_prompt {
            self.paragraph(system_prompt);
        }
    }

    fn persona(&mut self, step: &Step) {
        if let Some(system_prompt) = &step.system_prompt {
            self.paragraph(system_prompt);
        }
        if let Some(role) = &step.role {
            let role = self.fill(role);
            self.add(&format!("**Role:** {role}"));
        }
    }

    fn prompt(&mut self, prompt: &Prompt) {
        match &prompt.body {
            Body::Text(text) => self.paragraph(text),
            Body::Blocks(blocks) => self.blocks(blocks),
        }
        for fragment in &prompt.fragments {
            if fragment.when.as_ref().is_none_or(|when| when.judge(self.scope).holds) {
                self.paragraph(&fragment.text);
            }
        }
    }

    fn blocks(&mut self, blocks: &Blocks) {
        if let Some(goal) = &blocks.goal {
            let goal = self.fill(goal);
            self.section("Goal", &goal);
        }
        self.list("Constraints", &blocks.constraints);
        self.numbered("Procedure", &blocks.procedure);
        let line = |(key, text): &(String, String)| bullet("- ", &format!("**{key}**: {}", self.fill(text)));
        let wanted: Vec<String> = blocks.output_required.iter().map(line).collect();
        self.section("Output required", &wanted.join("\n"));
        self.list("Verify", &blocks.verify);
    }

    fn aids(&mut self, prompt: &Prompt) {
        let functions: Vec<String> =
            prompt.functions.iter().map(|function| self.function(function)).collect();
        self.section("Functions", &functions.join("\n\n"));
        let calls: Vec<String> = prompt.function_calls.iter().map(|call| format!("- `{call}`")).collect();
        self.section("Calls of functions to make", &calls.join("\n"));
        if prompt.ask_for_files {
            self.add("Ask for the files that you need before you go on; do not guess what is in them.");
        }
        if let Some(audit) = &prompt.audit {
            self.audit(audit);
        }
        if let Some(verification) = &prompt.verification {
            self.verification(verification);
        }
    }

    fn function(&self, function: &Function) -> String {
        let mut lines = vec![format!("**{}**: {}", function.name, self.fill(&function.definition))];
        lines.extend(
            function.parameters.iter().map(|parameter| format!("- {}", describe_parameter(parameter))),
        );
        lines.join("\n")
    }

    fn audit(&mut self, audit: &Audit) {
        let prompt = audit.prompt.as_deref().map(|prompt| self.fill(prompt)).unwrap_or_default();
        let rubric = audit.rubric.iter().map(|line| bullet("- ", &self.fill(line))).collect::<Vec<_>>();
        self.section("Audit of your own work", format!("{prompt}\n\n{}", rubric.join("\n")).trim());
    }

    fn verification(&mut self, verification: &Verification) {
        let command = verification.command.as_deref().map(|command| fenced("", &self.fill(command)));
        let prompt = verification.prompt.as_deref().map(|prompt| self.fill(prompt));
        let parts: Vec<String> = prompt.into_iter().chain(command).collect();
        self.section("Verification", &parts.join("\n\n"));
    }

    fn references(&mut self, workflow: &Workflow, step: &Step) {
        let find = |id: &String| workflow.references.iter().find(|reference| reference.id == *id);
        let lines = step.references.iter().map(|id| match find(id) {
            Some(reference) => describe_reference(reference),
            None => format!("- `{id}`"),
        });
        let lines = lines.collect::<Vec<_>>().join("\n");
        self.section("References (read them where they lie)", &lines);
    }

    fn terms(&mut self, step: &Step) {
        let mut terms = Vec::new();
        if let Some(model) = step.model {
            terms.push(format!("- The author suggests a {} model.", tier(model)));
        }
        if let Some(budget) = step.budget {
            terms.extend(describe_budget(budget));
        }
        if !step.requires.is_empty() {
            terms.push(format!("- It builds on these vars: `{}`.", step.requires.join("`, `")));
        }
        if let Some(confirm) = &step.confirm {
            let who = match confirm.by {
                ConfirmBy::Person => "A person",
                ConfirmBy::Coordinator => "The coordinator",
            };
            let does = if confirm.when.is_some() { "may have to confirm" } else { "confirms" };
            terms.push(format!("- {who} {does} your answer before the next step."));
        }
        self.section("Terms", &terms.join("\n"));
    }
}

fn describe_reference(reference: &Reference) -> String {
    let Reference { id, title, source, purpose, authoritative, resolve_from } = reference;
    let weight = if *authoritative { "authoritative" } else { "for orientation" };
    let place = match resolve_from {
        ResolveFrom::Workspace => "in the workspace",
        ResolveFrom::Package => "in the workflow's package",
    };
    format!("- `{id}`: {title}, `{source}` {place} ({weight}). {purpose}")
}

fn describe_parameter(parameter: &Value) -> String {
    let text = |field: &str| parameter.get(field).and_then(Value::as_str);
    let Some(name) = text("name") else { return format!("`{parameter}`") };
    let mut words = vec![text("type").unwrap_or("any").to_owned()];
    if parameter.get("required") == Some(&Value::Bool(true)) {
        words.push("required".to_owned());
    }
    for field in ["enum", "default"] {
        words.extend(parameter.get(field).map(|value| format!("{field} `{value}`")));
    }
    let description = text("description").map(|text| format!(": {text}")).unwrap_or_default();
    format!("`{name}` ({}){description}", words.join(", "))
}

fn describe_budget(budget: Budget) -> Option<String> {
    let tokens = budget.tokens.map(|tokens| format!("{tokens} tokens"));
    let time = budget.time_ms.map(|time_ms| format!("{} seconds", time_ms / 1000));
    let money = budget
        .money_micros
        .map(|micros| format!("{}.{:02} USD", micros / 1_000_000, micros % 1_000_000 / 10_000));
    let parts: Vec<String> = [tokens, time, money].into_iter().flatten().collect();
    if parts.is_empty() { None } else { Some(format!("- Budget: {}.", parts.join(", "))) }
}

fn tier(model: ModelTier) -> &'static str {
    match model {
        ModelTier::Light => "light",
        ModelTier::Standard => "standard",
        ModelTier::Heavy => "heavy",
    }
}

/// Further lines of an item stay inside it.
fn bullet(mark: &str, text: &str) -> String {
    format!("{mark}{}", text.trim().replace('\n', &format!("\n{}", " ".repeat(mark.len()))))
}

/// A block that its own content cannot close.
fn fenced(language: &str, content: &str) -> String {
    let longest = content.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{content}\n{fence}")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
