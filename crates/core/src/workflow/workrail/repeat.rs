//! Loops.

use std::collections::BTreeSet;

use super::condition;
use super::functions;
use super::reading::{Reader, text};
use super::standard::notes_optional;
use super::step::{Around, Frame};
use crate::workflow::MOST_LEVELS;
use crate::workflow::compile::prefix_ids;
use crate::workflow::document::{Node, NodeValue};
use crate::workflow::fields::Fields;
use crate::workflow::prompt::{Control, Prompt};
use crate::workflow::step::{Count, Loop, LoopOver, OnMax, Step, StepKind};
use crate::workflow::suggest::or_known;

/// Artifacts of this kind say whether a loop goes on.
const CONTROL_KIND: &str = "wr.loop_control";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    While,
    Until,
    For,
    ForEach,
}

const TYPES: [(&str, Type); 4] =
    [("while", Type::While), ("until", Type::Until), ("for", Type::For), ("forEach", Type::ForEach)];

/// Where a `while` or `until` gets its decision from.
enum Source {
    /// From an artifact, under this name.
    Artifact(Option<String>),
    Vars(crate::workflow::Condition),
    /// Not said.
    Missing,
}

/// The ids of steps that loops name as their body. They do not run by themselves.
pub(super) fn bodies(steps: &[Node]) -> BTreeSet<&str> {
    let mut ids = BTreeSet::new();
    for body in steps.iter().filter(|step| step.get("loop").is_some()).filter_map(|step| step.get("body")) {
        match &body.value {
            NodeValue::Text(id) => {
                ids.insert(id.as_str());
            }
            NodeValue::List(inner) => {
                ids.extend(inner.iter().filter_map(Node::as_text));
                ids.extend(bodies(inner));
            }
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Map(_) => {}
        }
    }
    ids
}

impl Reader<'_> {
    pub(super) fn repeat(&self, fields: &mut Fields<'_>, frame: Frame, around: &Around) -> Option<Step> {
        let mut inside = around.clone();
        inside.functions.extend(functions::definitions(fields, "loop"));
        inside.notes_optional = notes_optional(fields, around);
        let body = fields.required("body");
        let settings = fields.required("loop")?;
        self.place(&frame.id, "loop", &settings.span);
        let mut steps = self.body_steps(body?, &frame.id, &inside);

        let mut settings = Fields::of(settings, "`loop`", self.findings)?;
        let kind = if settings.required("type").is_some() { settings.choice("type", &TYPES) } else { None };
        let max = self.max(&mut settings);
        let iteration_var =
            text(&mut settings, "iterationVar").unwrap_or_else(|| "currentIteration".to_owned());
        let over = kind.and_then(|kind| self.over(&mut settings, kind, &frame.id, &mut steps));
        settings.finish();
        let repeat = Loop { over: over?, max: max?, on_max: OnMax::Continue, iteration_var, steps };
        Some(frame.step(StepKind::Loop(repeat)))
    }

    fn max(&self, settings: &mut Fields<'_>) -> Option<u64> {
        let node = settings.required("maxIterations")?;
        let max = settings.count("maxIterations")?;
        if max == 0 {
            self.findings.error(&node.span, "a loop must be allowed to run at least once", "write 1 or more");
        }
        Some(max)
    }

    fn body_steps(&self, body: &Node, id: &str, inside: &Around) -> Vec<Step> {
        let nodes = match &body.value {
            NodeValue::List(nodes) => nodes.as_slice(),
            NodeValue::Text(_) => std::slice::from_ref(body),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Map(_) => {
                let message =
                    format!("`body` must be a step id or a list of steps, and this is {}", body.described());
                self.findings.error(&body.span, message, "write `[…]` around the steps");
                return Vec::new();
            }
        };
        if nodes.is_empty() {
            self.findings.error(
                &body.span,
                format!("the loop `{id}` has nothing to do"),
                "add a step to its body",
            );
        }
        let steps = nodes.iter().filter_map(|node| match node.as_text() {
            Some(name) => self.named_body(name, node, id, inside),
            None => self.step(node, inside),
        });
        steps.collect()
    }

    /// A step of the root that a loop takes as its body.
    fn named_body(&self, name: &str, node: &Node, id: &str, inside: &Around) -> Option<Step> {
        let Some(body) = self.named.get(name) else {
            let known: Vec<&str> = self.named.keys().copied().filter(|known| *known != id).collect();
            self.findings.error(
                &node.span,
                format!("the file has no step `{name}` at its top level"),
                or_known(name, known),
            );
            return None;
        };
        let mut inside = inside.clone();
        inside.bodies.push(id.to_owned());
        if inside.bodies.iter().any(|outer| outer == name) {
            let way = inside.bodies.join("` → `");
            let message = format!("loops are each other's body: `{way}` → `{name}`");
            self.findings.error(&node.span, message, "give one of them a body of its own");
            return None;
        }
        if inside.bodies.len() > MOST_LEVELS {
            let message = format!("loops that name their body lie more than {MOST_LEVELS} levels deep");
            self.findings.error(&node.span, message, "put fewer loops in one another");
            return None;
        }
        if self.gathered.borrow_mut().taken.insert(name.to_owned()) {
            return self.step(body, &inside);
        }
        self.copied_body(body, id, &inside)
    }

    /// A body that another loop has too: a copy, with ids of its own.
    fn copied_body(&self, body: &Node, id: &str, inside: &Around) -> Option<Step> {
        let places = std::mem::take(&mut self.gathered.borrow_mut().places);
        let copy = self.step(body, inside);
        let mut gathered = self.gathered.borrow_mut();
        let seen = std::mem::replace(&mut gathered.places, places);
        for (workflow, span) in seen.children() {
            gathered.places.child(workflow, span);
        }
        for (inner, span) in seen.steps() {
            gathered.places.step(&format!("{id}.{inner}"), span);
        }
        let mut copy = [copy?];
        prefix_ids(&mut copy, id);
        let [copy] = copy;
        Some(copy)
    }

    fn over(&self, settings: &mut Fields<'_>, kind: Type, id: &str, steps: &mut [Step]) -> Option<LoopOver> {
        self.warn_for_other_types(settings, kind);
        match kind {
            Type::While | Type::Until => self.by_decision(settings, kind, id, steps),
            Type::For => {
                claim(steps, id);
                Some(LoopOver::Count(count(settings)?))
            }
            Type::ForEach => {
                claim(steps, id);
                let name = |settings: &mut Fields<'_>, key, default: &str| {
                    text(settings, key).unwrap_or_else(|| default.to_owned())
                };
                Some(LoopOver::Items {
                    list: settings.required_text("items")?,
                    item_var: name(settings, "itemVar", "currentItem"),
                    index_var: name(settings, "indexVar", "currentIndex"),
                })
            }
        }
    }

    fn warn_for_other_types(&self, settings: &mut Fields<'_>, kind: Type) {
        let by_condition = matches!(kind, Type::While | Type::Until);
        let keys = [
            ("condition", by_condition),
            ("conditionSource", by_condition),
            ("count", kind == Type::For),
            ("items", kind == Type::ForEach),
            ("itemVar", kind == Type::ForEach),
            ("indexVar", kind == Type::ForEach),
        ];
        for (key, used) in keys {
            if let (false, Some(found)) = (used, settings.key(key)) {
                let message = format!("`{key}` means nothing for this type of loop");
                self.warn(&found.span, message, "take it out, or correct `type`");
            }
        }
    }

    fn by_decision(
        &self,
        settings: &mut Fields<'_>,
        kind: Type,
        id: &str,
        steps: &mut [Step],
    ) -> Option<LoopOver> {
        let source = self.source(settings)?;
        let loop_id = match &source {
            Source::Artifact(Some(name)) => name.clone(),
            Source::Artifact(None) | Source::Vars(_) | Source::Missing => id.to_owned(),
        };
        let claimed = claim(steps, &loop_id);
        match source {
            Source::Artifact(_) => {
                if claimed == 0 {
                    let message = format!(
                        "no step in the body of `{id}` can stop it, so it goes on to `maxIterations`"
                    );
                    let fix = "let a body step declare the contract `wr.contracts.loop_control`";
                    self.warn(settings.span(), message, fix);
                }
                Some(LoopOver::Control { loop_id })
            }
            Source::Vars(_) if claimed > 0 => {
                let message =
                    format!("a body step of `{id}` decides by artifact, so the condition is not looked at");
                self.warn(
                    settings.span(),
                    message,
                    "take out the condition, or the output contract of that step",
                );
                Some(LoopOver::Control { loop_id })
            }
            Source::Missing if claimed > 0 => Some(LoopOver::Control { loop_id }),
            Source::Missing => {
                settings.missing("condition");
                None
            }
            Source::Vars(condition) if kind == Type::While => Some(LoopOver::While(condition)),
            Source::Vars(condition) => Some(LoopOver::Until(condition)),
        }
    }

    fn source(&self, settings: &mut Fields<'_>) -> Option<Source> {
        let plain = settings.node("condition").map(|node| condition::read(node, self.findings));
        let Some(mut map) = settings.map("conditionSource") else {
            return plain.map_or(Some(Source::Missing), |condition| condition.map(Source::Vars));
        };
        if let Some(key) = settings.key("condition") {
            let message = "`condition` is not looked at, because there is a `conditionSource`";
            self.warn(&key.span, message, "take one of them out");
        }
        let kinds = [("artifact_contract", true), ("context_variable", false)];
        let by_artifact = if map.required("kind").is_some() { map.choice("kind", &kinds) } else { None };
        let loop_id = text(&mut map, "loopId");
        let contract = map.node("contractRef");
        let inner = map.node("condition").map(|node| condition::read(node, self.findings));
        if by_artifact == Some(true) {
            self.check_control_contract(&mut map, contract);
        } else if by_artifact == Some(false) && inner.is_none() {
            map.missing("condition");
        }
        map.finish();
        if by_artifact? { Some(Source::Artifact(loop_id)) } else { Some(Source::Vars(inner??)) }
    }

    fn check_control_contract(&self, map: &mut Fields<'_>, contract: Option<&Node>) {
        let Some(node) = contract else { return map.missing("contractRef") };
        let name = node.as_text().unwrap_or_default();
        let kind = crate::workflow::contract::builtin(name).and_then(|contract| contract.kind);
        if kind.as_deref() != Some(CONTROL_KIND) {
            let message = format!("a loop cannot be decided by `{name}`; a loop control artifact is taken");
            self.warn(&node.span, message, "write `wr.contracts.loop_control`");
        }
    }
}

fn count(settings: &mut Fields<'_>) -> Option<Count> {
    let node = settings.required("count")?;
    match node.as_text() {
        Some(_) => Some(Count::Var(settings.required_text("count")?.trim().to_owned())),
        None => settings.count("count").map(Count::Fixed),
    }
}

/// Gives the decision about a loop to the steps of its body that declare the contract and have no loop yet.
fn claim(steps: &mut [Step], loop_id: &str) -> usize {
    let mut claimed = 0;
    for step in steps {
        if let StepKind::Prompt(prompt) = &mut step.kind
            && prompt.control.is_none()
            && declares_control(prompt)
        {
            prompt.control = Some(Control { loop_id: loop_id.to_owned() });
            claimed += 1;
        }
        claimed += claim(step.kind.inner_mut(), loop_id);
    }
    claimed
}

fn declares_control(prompt: &Prompt) -> bool {
    prompt.outputs.iter().any(|output| output.contract == "wr.contracts.loop_control")
}
