//! Steps that start sessions inside the session: spawn and parallel.

use std::collections::BTreeMap;

use super::step::Reading;
use super::{Fields, MODELS, Node, NodeValue, Reader, condition, prompt};
use crate::workflow::MOST_ITERATIONS;
use crate::workflow::fields::Findings;
use crate::workflow::prompt::Prompt;
use crate::workflow::step::{Brief, Child, ChildItems, Files, Join, OnFailure, Parallel, Spawn, StepKind};

/// The most children that one list starts, unless it says otherwise.
const DEFAULT_MOST_CHILDREN: u64 = 8;

const ON_FAILURE: &[(&str, OnFailure)] = &[("abort", OnFailure::Abort), ("continue", OnFailure::Continue)];

impl Reader<'_> {
    pub(super) fn spawn_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let mut map = reading.fields.map("spawn")?;
        let child = self.child(&mut map);
        let into = self.engine_var_under(&mut map, "into");
        map.finish();
        let into = into.or_else(|| self.engine_var_under(reading.fields, "into"));
        let on_failure = reading.fields.choice("on_failure", ON_FAILURE).unwrap_or_default();
        Some(StepKind::Spawn(Spawn { child: child?, on_failure, into }))
    }

    /// A list of children, or one map that starts a child for each item of a list.
    pub(super) fn parallel_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        const JOIN: &[(&str, Join)] = &[("all", Join::All), ("any", Join::Any)];
        let &mut Reading { ref mut fields, id, title, level } = reading;
        let node = fields.required("parallel")?;
        let nodes = match &node.value {
            NodeValue::Map(_) => std::slice::from_ref(node),
            _ => fields.list("parallel"),
        };
        let mut children = Vec::new();
        for node in nodes {
            let Some(mut map) = Fields::of(node, "a child", self.findings) else { continue };
            let mut child = self.child(&mut map);
            let items = self.child_items(&mut map);
            map.finish();
            if let Some(child) = &mut child {
                child.for_each = items;
            }
            children.extend(child);
        }
        if nodes.is_empty() {
            self.findings.error(&node.span, "`parallel` starts nothing", "list at least one `workflow`");
        }
        let join = fields.choice("join", JOIN).unwrap_or(Join::All);
        let on_failure = fields.choice("on_failure", ON_FAILURE).unwrap_or(OnFailure::Abort);
        let into = self.engine_var_under(fields, "into");
        let synthesis = fields.map("synthesis").map(|mut map| {
            self.places.field(&format!("{id}.synthesis"), "prompt", map.span());
            let synthesis = self.synthesis(&mut Reading { fields: &mut map, id, title, level });
            map.finish();
            Parallel::synthesis_of(id, synthesis)
        });
        let into = into.or_else(|| synthesis.as_ref().map(|_| Parallel::results_of(id)));
        into.iter().for_each(|name| self.engine_var(name));
        Some(StepKind::Parallel(Parallel { children, join, on_failure, into, synthesis }))
    }

    fn synthesis(&mut self, reading: &mut Reading<'_, '_>) -> Prompt {
        let body = reading.fields.required("prompt").and_then(|node| prompt::body(node, self.findings));
        self.prompt(reading, body.unwrap_or_else(|| crate::workflow::prompt::Body::Text(String::new())))
    }

    fn child(&mut self, map: &mut Fields<'_>) -> Option<Child> {
        const FILES: &[(&str, Files)] = &[("read", Files::Read), ("write", Files::Write)];
        let workflow = map.required_text("workflow");
        if let (Some(node), Some(workflow)) = (map.raw("workflow"), &workflow) {
            self.places.child(workflow, &node.span);
        }
        let goal = map.text("goal");
        let when = condition::under(map, "when");
        let brief = map.node("brief").and_then(|node| brief(node, self.findings));
        let with: BTreeMap<String, serde_json::Value> =
            map.entries("with").iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect();
        let model = map.choice("model", MODELS);
        let allowed_tools = map.texts("allowedTools");
        let files = map.choice("files", FILES);
        let for_each = None;
        Some(Child { workflow: workflow?, goal, when, brief, with, for_each, model, allowed_tools, files })
    }

    fn child_items(&mut self, map: &mut Fields<'_>) -> Option<ChildItems> {
        let node = map.node("forEach");
        let item_var = map.text("as");
        let max = map.count("max");
        if let (Some(max), Some(at)) = (max, map.raw("max"))
            && !(1..=MOST_ITERATIONS).contains(&max)
        {
            let message = format!("`max` must lie between 1 and {MOST_ITERATIONS}");
            self.findings.error(&at.span, message, "say how many sessions at most");
        }
        let list = condition::path_of(node?, "`forEach`", self.findings)?;
        let item_var = item_var.unwrap_or_else(|| "item".to_owned());
        self.engine_var(&item_var);
        Some(ChildItems { list, item_var, max: max.unwrap_or(DEFAULT_MOST_CHILDREN) })
    }
}

/// `inherit`, `blank`, or `{mode: custom, include: […]}`.
fn brief(node: &Node, findings: &Findings) -> Option<Brief> {
    #[derive(Clone, Copy)]
    enum Mode {
        Inherit,
        Blank,
        Custom,
    }
    const MODES: &[(&str, Mode)] =
        &[("inherit", Mode::Inherit), ("blank", Mode::Blank), ("custom", Mode::Custom)];
    if let NodeValue::Text(text) = &node.value {
        match text.as_str() {
            "inherit" => return Some(Brief::Inherit),
            "blank" => return Some(Brief::Blank),
            other => {
                let message = format!("`brief` cannot be `{other}`");
                let fix = "write `inherit`, `blank` or `{ mode: custom, include: [spec] }`";
                findings.error(&node.span, message, fix);
                return None;
            }
        }
    }
    let mut fields = Fields::of(node, "`brief`", findings)?;
    fields.required("mode");
    let mode = fields.choice("mode", MODES);
    let include = fields.texts("include");
    fields.finish();
    Some(match mode? {
        Mode::Inherit => Brief::Inherit,
        Mode::Blank => Brief::Blank,
        Mode::Custom => Brief::Custom { include },
    })
}
