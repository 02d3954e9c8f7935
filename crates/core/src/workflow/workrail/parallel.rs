//! Parallel steps: sessions of other workflows, side by side.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::condition;
use super::reading::{Reader, model_tier, text, texts};
use super::standard::notes_optional;
use super::step::{Around, Frame};
use crate::workflow::document::Node;
use crate::workflow::fields::Fields;
use crate::workflow::prompt::{Body, Notes, Prompt};
use crate::workflow::step::{Child, Join, OnFailure, Parallel, Step, StepKind};

impl Reader<'_> {
    pub(super) fn parallel(&self, fields: &mut Fields<'_>, frame: Frame, around: &Around) -> Option<Step> {
        let node = fields.required("parallelDelegations")?;
        self.place(&frame.id, "parallel", &node.span);
        let delegations = fields.list("parallelDelegations");
        if delegations.is_empty() && node.as_list().is_some() {
            self.findings.error(&node.span, "a parallel step needs at least one delegation", "add one");
        }
        let children = delegations.iter().filter_map(|node| self.child(node)).collect();
        let notes = if notes_optional(fields, around) { Notes::Optional } else { Notes::Required };
        let synthesis = fields.node("synthesis").and_then(|node| self.synthesis(node, notes));
        let into = synthesis.as_ref().map(|_| Parallel::results_of(&frame.id));
        let synthesis = synthesis.map(|prompt| Parallel::synthesis_of(&frame.id, prompt));
        let (join, on_failure) = (Join::All, OnFailure::Continue);
        let parallel = Parallel { children, join, on_failure, into, synthesis };
        Some(frame.step(StepKind::Parallel(parallel)))
    }

    fn child(&self, node: &Node) -> Option<Child> {
        let mut fields = Fields::of(node, "a delegation", self.findings)?;
        let workflow = fields.required_text("workflowId");
        if let (Some(id), Some(node)) = (&workflow, fields.raw("workflowId")) {
            self.gathered.borrow_mut().places.child(id, &node.span);
        }
        let goal = text(&mut fields, "goal");
        let when = fields.node("runCondition").and_then(|node| condition::read(node, self.findings));
        let with = self.given(&mut fields);
        let model = model_tier(&mut fields);
        let allowed_tools = texts(&mut fields, "allowedTools");
        fields.finish();
        Some(Child {
            workflow: workflow?,
            goal,
            when,
            brief: None,
            with,
            for_each: None,
            model,
            allowed_tools,
            files: None,
        })
    }

    /// Vars of the child: arguments as they are, mapped vars as templates.
    fn given(&self, fields: &mut Fields<'_>) -> BTreeMap<String, Value> {
        let mut with = BTreeMap::new();
        for (key, node) in fields.entries("contextMapping") {
            if let Some(path) = node.as_text() {
                with.insert(key.name.clone(), json!(format!("{{{{{}}}}}", path.trim())));
                continue;
            }
            let message =
                format!("`{}` must be the name of a var, and this is {}", key.name, node.described());
            self.findings.error(&node.span, message, "write the name in quotes");
        }
        for (key, node) in fields.entries("args") {
            if with.insert(key.name.clone(), node.to_json()).is_some() {
                let message =
                    format!("`{}` is in `args` and in `contextMapping`; the argument is taken", key.name);
                self.warn(&key.span, message, "keep one of them");
            }
        }
        with
    }

    fn synthesis(&self, node: &Node, notes: Notes) -> Option<Prompt> {
        let mut fields = Fields::of(node, "`synthesis`", self.findings)?;
        let words = text(&mut fields, "prompt").unwrap_or_else(|| "Bring the results together.".to_owned());
        let outputs: Vec<_> = self.output(&mut fields).into_iter().collect();
        fields.finish();
        let notes = if outputs.iter().any(|output| output.required) { Notes::Optional } else { notes };
        Some(Prompt { outputs, ..Prompt::plain(Body::Text(words), notes) })
    }
}
