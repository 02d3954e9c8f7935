//! The prompt of a step and what its answer must have.

use super::reading::{Reader, should_have, text, texts};
use super::standard::notes_optional;
use super::step::Around;
use super::{condition, functions};
use crate::workflow::contract;
use crate::workflow::document::Node;
use crate::workflow::fields::Fields;
use crate::workflow::prompt::{Audit, Body, Fragment, Notes, OutputContract, Prompt, Verification};
use crate::workflow::suggest::or_known;

impl Reader<'_> {
    pub(super) fn prompt(
        &self,
        fields: &mut Fields<'_>,
        id: &str,
        around: &Around,
        guidance: &mut Vec<String>,
    ) -> Option<Prompt> {
        let body = self.body(fields, id);
        let outputs: Vec<OutputContract> = self.output(fields).into_iter().collect();
        let stands_for_notes = outputs.iter().any(|output| output.required);
        let optional = notes_optional(fields, around) || stands_for_notes;
        Some(Prompt {
            body: body?,
            fragments: self.fragments(fields),
            notes: if optional { Notes::Optional } else { Notes::Required },
            produces: std::collections::BTreeMap::new(),
            outputs,
            validate: self.rules_of(fields, guidance),
            assessments: self.assessments_of(fields),
            control: None,
            functions: self.functions_of(fields, &around.functions),
            function_calls: functions::calls(fields),
            ask_for_files: fields.flag("askForFiles").unwrap_or(false),
            audit: audit(fields),
            verification: verification(fields),
        })
    }

    fn body(&self, fields: &mut Fields<'_>, id: &str) -> Option<Body> {
        if fields.has("prompt") && fields.has("promptBlocks") {
            let message =
                format!("step `{id}` has both `prompt` and `promptBlocks`, and only one can be its prompt");
            self.findings.error(fields.span(), message, "keep one of them");
        }
        let words = text(fields, "prompt");
        let blocks = fields.node("promptBlocks").and_then(|node| self.blocks(node));
        match (words, blocks) {
            (Some(words), _) => Some(Body::Text(words)),
            (None, Some(blocks)) => Some(Body::Blocks(blocks)),
            (None, None) if fields.has("audit") || fields.has("verification") => {
                Some(Body::Text(String::new()))
            }
            (None, None) => {
                if !fields.has("prompt") && !fields.has("promptBlocks") {
                    let message = format!(
                        "step `{id}` asks nothing: it has no `prompt`, `promptBlocks` or `templateCall`"
                    );
                    self.findings.error(fields.span(), message, "add a `prompt`");
                } else if fields.raw("prompt").is_some_and(|node| node.as_text().is_some()) {
                    self.findings.error(
                        fields.span(),
                        format!("the prompt of step `{id}` is blank"),
                        "write it",
                    );
                }
                None
            }
        }
    }

    fn fragments(&self, fields: &mut Fields<'_>) -> Vec<Fragment> {
        let mut ids: Vec<String> = Vec::new();
        let mut fragments = Vec::new();
        for node in fields.list("promptFragments") {
            let Some(mut fields) = Fields::of(node, "a fragment", self.findings) else { continue };
            should_have(&mut fields, &["id"]);
            // The id is for people who talk about the file; it must only be unambiguous.
            if let Some(id) = text(&mut fields, "id") {
                if ids.contains(&id) {
                    self.warn(
                        &node.span,
                        format!("the fragment id `{id}` stands twice in this step"),
                        "rename one",
                    );
                }
                ids.push(id);
            }
            let when = fields.node("when").map(|node| condition::read(node, self.findings));
            let words = fields.required_text("text");
            fields.finish();
            if let (Some(text), None | Some(Some(_))) = (words, &when) {
                fragments.push(Fragment { when: when.flatten(), text });
            }
        }
        fragments
    }

    /// The contract of the step's output; one that nobody knows is asked for by name only.
    pub(super) fn output(&self, fields: &mut Fields<'_>) -> Option<OutputContract> {
        let mut map = fields.map("outputContract")?;
        let name = map.required_text("contractRef");
        let required = map.flag("required").unwrap_or(true);
        let node = map.raw("contractRef");
        map.finish();
        let (name, node) = (name?, node?);
        let known = self.knows_contract(&name);
        if !known {
            self.warn_unknown_contract(&name, node);
        }
        Some(OutputContract { contract: name, required: required && known, into: None })
    }

    /// Whether there is a contract of that name. It is then one of the workflow's.
    fn knows_contract(&self, name: &str) -> bool {
        let contracts = &mut self.gathered.borrow_mut().contracts;
        if !contracts.contains_key(name) {
            contracts.extend(contract::builtin(name).map(|contract| (name.to_owned(), contract)));
        }
        contracts.contains_key(name)
    }

    fn warn_unknown_contract(&self, name: &str, node: &Node) {
        let known: Vec<String> = contract::builtin_names().filter(|known| known.starts_with("wr.")).collect();
        let fix = or_known(name, known.iter().map(String::as_str).collect::<Vec<_>>());
        self.warn(
            &node.span,
            format!("the contract `{name}` is not known here, so nothing is checked against it"),
            fix,
        );
    }
}

fn audit(fields: &mut Fields<'_>) -> Option<Audit> {
    let mut map = fields.map("audit")?;
    let audit = Audit { prompt: text(&mut map, "prompt"), rubric: texts(&mut map, "rubric") };
    map.finish();
    Some(audit)
}

fn verification(fields: &mut Fields<'_>) -> Option<Verification> {
    let mut map = fields.map("verification")?;
    let verification = Verification { command: text(&mut map, "command"), prompt: text(&mut map, "prompt") };
    map.finish();
    Some(verification)
}
