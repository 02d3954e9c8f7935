//! The native front end: `longhaul: 1`, in YAML or JSON.
//!
//! It reads on after a mistake, so that one look shows them all. What needs the whole workflow (jump targets,
//! references, what can be set where) is left to the checks after it.

mod assess;
mod children;
mod condition;
mod contracts;
mod decide;
mod engine;
mod keywords;
mod prompt;
mod repeat;
mod routine;
mod schema;
mod slots;
mod step;
mod vars;

use std::collections::BTreeMap;
use std::ops::Range;

use super::compile::{Context, Draft, NATIVE_VERSION, Places};
use super::document::{Node, NodeValue};
use super::features::Feature;
use super::fields::{Fields, Findings, text_of};
use super::{
    Budget, Catalog, Contract, Format, MOST_STEPS, ModelTier, Reference, ResolveFrom, Step, VarDeclaration,
    Vars, Workflow,
};

const CATEGORIES: [&str; 7] = ["coding", "review", "discovery", "design", "audit", "ops", "meta"];
const MODELS: &[(&str, ModelTier)] =
    &[("light", ModelTier::Light), ("standard", ModelTier::Standard), ("heavy", ModelTier::Heavy)];
const LONGEST_ID: usize = 128;

pub use schema::schema;

/// Reads a native file, with its routines expanded.
pub fn read(root: &Node, context: &Context<'_>) -> Option<Draft> {
    let root = slots::fill(root, context);
    let mut reader = Reader {
        context,
        findings: context.findings,
        places: Places::default(),
        vars: BTreeMap::new(),
        schemas: contracts::schemas_of(&root),
        own_contracts: BTreeMap::new(),
        contracts: BTreeMap::new(),
        routines: Vec::new(),
        around: Vec::new(),
        features: Vec::new(),
        steps: 0,
    };
    reader.root(&root)
}

/// One file that is being read.
struct Reader<'c> {
    context: &'c Context<'c>,
    findings: &'c Findings,
    places: Places,
    vars: BTreeMap<String, VarDeclaration>,
    /// The file's own contracts, each as it is written.
    schemas: BTreeMap<String, serde_json::Value>,
    /// Those of them that can be used.
    own_contracts: BTreeMap<String, Contract>,
    /// Those that some step names, built-in ones included.
    contracts: BTreeMap<String, Contract>,
    /// Expanded routines without their steps, each with its call.
    routines: Vec<(Workflow, Range<usize>)>,
    /// Loops and lists around the step that is being read, outermost first.
    around: Vec<repeat::Around>,
    /// What every prompt in blocks gets.
    features: Vec<&'static Feature>,
    steps: usize,
}

impl Reader<'_> {
    fn root(&mut self, root: &Node) -> Option<Draft> {
        let mut fields = Fields::of(root, "the workflow", self.findings)?;
        self.version(&mut fields);
        let id = fields.required("id").and_then(|node| self.workflow_id(node));
        let name = fields.required_text("name");
        let version = fields.required("version").and_then(|node| self.semantic_version(node));
        let categories = CATEGORIES.map(|category| (category, category));
        let category = fields.choice("category", &categories).map(str::to_owned);
        let about = fields.text("about").unwrap_or_default();
        self.declared_vars(&mut fields);
        self.check_contracts(&mut fields);
        let guidance = fields.one_or_more_texts("guidance");
        let system_prompt = fields.text("systemPrompt");
        let model = fields.choice("model", MODELS);
        let budget = budget(&mut fields);
        let references = self.references(&mut fields);
        // Filled in before; and where an editor finds the schema of this format.
        fields.know(&["slots", "$schema"]);
        self.features = slots::features(&mut fields);
        let steps = fields.required("steps").map(|node| self.step_list(node, 1)).unwrap_or_default();
        fields.finish();
        let mut draft = Draft {
            workflow: Workflow {
                format: Format::Native,
                id: id.unwrap_or_default(),
                name: name.unwrap_or_default(),
                version: version.unwrap_or_default(),
                category,
                about,
                catalog: Catalog::default(),
                vars: Vars::Declared(std::mem::take(&mut self.vars)),
                guidance,
                preconditions: Vec::new(),
                clarifications: Vec::new(),
                system_prompt,
                model,
                budget,
                preferences: None,
                references,
                contracts: std::mem::take(&mut self.contracts),
                below: BTreeMap::new(),
                steps,
            },
            places: std::mem::take(&mut self.places),
        };
        for (routine, call) in std::mem::take(&mut self.routines) {
            draft.absorb(routine, &call, self.findings);
        }
        Some(draft)
    }

    fn version(&self, fields: &mut Fields<'_>) {
        let Some(node) = fields.required("longhaul") else { return };
        let version = match &node.value {
            NodeValue::Number(number) => number.as_u64(),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Text(_)
            | NodeValue::List(_)
            | NodeValue::Map(_) => None,
        };
        match version {
            Some(NATIVE_VERSION) => {}
            Some(newer) if newer > NATIVE_VERSION => self.findings.warning(
                &node.span,
                format!("this file is written for version {newer} of the format, and this build knows {NATIVE_VERSION}"),
                "what is new there is not seen here; update `longhaul`",
            ),
            _ => self.findings.error(&node.span, "this is not a version of the format", "write `longhaul: 1`"),
        }
    }

    fn workflow_id(&self, node: &Node) -> Option<String> {
        let id = text_of(node, "`id`", self.findings)?;
        let is_good = id.len() <= LONGEST_ID
            && id.split('.').all(|part| !part.is_empty() && part.bytes().all(is_id_byte));
        if !is_good {
            let message = format!("`{}` cannot be the id of a workflow", shortened(&id));
            let fix = "use words of `a-z`, `0-9` and `-`, joined by dots, such as `team.release-notes`";
            self.findings.error(&node.span, message, fix);
        }
        Some(id)
    }

    fn semantic_version(&self, node: &Node) -> Option<String> {
        let version = text_of(node, "`version`", self.findings)?;
        let core = version.split(['-', '+']).next().unwrap_or_default();
        let numbers: Vec<&str> = core.split('.').collect();
        let is_good = numbers.len() == 3
            && numbers.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
            && version.len() <= 64;
        if !is_good {
            let message = format!("`{}` is not a version", shortened(&version));
            self.findings.error(&node.span, message, "write three numbers, such as `1.0.0`");
        }
        Some(version)
    }

    /// A list of steps that lies `level` deep.
    fn step_list(&mut self, node: &Node, level: usize) -> Vec<Step> {
        let Some(items) = node.as_list() else {
            let message = format!("`steps` must be a list, and this is {}", node.described());
            self.findings.error(&node.span, message, "begin each step with `- id: …`");
            return Vec::new();
        };
        if items.is_empty() {
            self.findings.error(&node.span, "`steps` is empty", "write at least one step");
        }
        if level > super::MOST_LEVELS {
            let message = format!("steps lie more than {} levels deep", super::MOST_LEVELS);
            self.findings.error(&node.span, message, "flatten the loops around them");
            return Vec::new();
        }
        let mut steps = Vec::new();
        for item in items {
            self.steps += 1;
            if self.steps == MOST_STEPS + 1 {
                let message = format!("the file has more than {MOST_STEPS} steps");
                self.findings.error(
                    &item.span,
                    message,
                    "move some of them into routines or other workflows",
                );
            }
            if self.steps > MOST_STEPS {
                break;
            }
            steps.extend(self.step(item, level));
        }
        steps
    }

    fn references(&self, fields: &mut Fields<'_>) -> Vec<Reference> {
        const FROM: &[(&str, ResolveFrom)] =
            &[("workspace", ResolveFrom::Workspace), ("package", ResolveFrom::Package)];
        let mut references: Vec<Reference> = Vec::new();
        for node in fields.list("references") {
            let Some(mut entry) = Fields::of(node, "a reference", self.findings) else { continue };
            let id = entry.required_text("id");
            let source = entry.required_text("source");
            let title = entry.text("title");
            let purpose = entry.text("purpose").unwrap_or_default();
            let authoritative = entry.flag("authoritative").unwrap_or_default();
            let resolve_from = entry.choice("resolveFrom", FROM).unwrap_or(ResolveFrom::Workspace);
            entry.finish();
            let (Some(id), Some(source)) = (id, source) else { continue };
            if references.iter().any(|known| known.id == id) {
                let message = format!("the reference `{id}` stands twice");
                self.findings.error(&node.span, message, "give one of them another id");
            }
            let title = title.unwrap_or_else(|| id.clone());
            references.push(Reference { id, title, source, purpose, authoritative, resolve_from });
        }
        references
    }
}

fn budget(fields: &mut Fields<'_>) -> Option<Budget> {
    let mut budget = fields.map("budget")?;
    let limits = Budget {
        tokens: budget.amount("tokens"),
        time_ms: budget.duration_ms("time"),
        money_micros: budget.money_micros("money"),
    };
    budget.finish();
    Some(limits)
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Enough of a text to know it by.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// `frame-gate` as people would write it.
fn in_words(id: &str) -> String {
    let words = id.replace(['-', '_'], " ");
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

#[cfg(test)]
mod tests;
