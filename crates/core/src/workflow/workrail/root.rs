//! The root of a file: what holds for the whole workflow.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::reading::{Gathered, Reader, model_tier, should_have, soft_choice, text, texts};
use super::step::Around;
use super::{assess, functions};
use crate::workflow::compile::{Context, Draft};
use crate::workflow::document::Node;
use crate::workflow::features::{self, Feature};
use crate::workflow::fields::{Fields, Findings};
use crate::workflow::prompt::Assessment;
use crate::workflow::suggest::or_known;
use crate::workflow::{Catalog, Format, Preferences, Reference, ResolveFrom, Slot, Vars, Workflow};

pub(super) fn read(root: &Node, context: &Context<'_>) -> Option<Draft> {
    let mut fields = Fields::of(root, "the root", context.findings)?;
    fields.know(&["$schema"]);
    let id = fields.required_text("id");
    let name = fields.required_text("name");
    let version = fields.required_text("version");
    let reader = Reader {
        context,
        findings: context.findings,
        features: features_of(&mut fields),
        assessments: assessments_of(&mut fields),
        functions: functions::definitions(&mut fields, "workflow"),
        named: named_steps(root),
        gathered: RefCell::new(Gathered::default()),
    };
    let mut workflow = Workflow {
        format: Format::WorkRail,
        id: id.unwrap_or_default(),
        name: name.unwrap_or_default(),
        version: version.unwrap_or_default(),
        category: None,
        about: text(&mut fields, "about").unwrap_or_default(),
        catalog: catalog(&mut fields),
        vars: Vars::Open,
        guidance: texts(&mut fields, "metaGuidance"),
        preconditions: texts(&mut fields, "preconditions"),
        clarifications: texts(&mut fields, "clarificationPrompts"),
        system_prompt: None,
        model: model_tier(&mut fields),
        budget: None,
        preferences: preferences(&mut fields),
        references: references(&mut fields),
        contracts: BTreeMap::new(),
        below: BTreeMap::new(),
        steps: Vec::new(),
    };
    workflow.steps = reader.top_steps(&mut fields);
    fields.finish();
    functions::warn_unused(&reader, root);
    Some(finished(workflow, reader))
}

fn finished(mut workflow: Workflow, reader: Reader<'_>) -> Draft {
    let findings = reader.findings;
    let gathered = reader.gathered.into_inner();
    workflow.contracts = gathered.contracts;
    let mut draft = Draft { workflow, places: gathered.places };
    for (routine, call) in gathered.routines {
        draft.absorb(routine, &call, findings);
    }
    draft
}

fn named_steps(root: &Node) -> BTreeMap<&str, &Node> {
    let steps = root.get("steps").and_then(Node::as_list).unwrap_or_default();
    steps.iter().filter_map(|step| Some((step.get("id")?.as_text()?, step))).collect()
}

impl Reader<'_> {
    /// The steps of the root, without those that are the body of a loop.
    fn top_steps(&self, fields: &mut Fields<'_>) -> Vec<crate::workflow::Step> {
        let Some(node) = fields.required("steps") else { return Vec::new() };
        let steps = fields.list("steps");
        if steps.is_empty() && node.as_list().is_some() {
            self.findings.error(&node.span, "a workflow needs at least one step", "add a step");
        }
        let bodies = super::repeat::bodies(steps);
        let around = Around::default();
        let own = steps
            .iter()
            .filter(|step| step.get("id").and_then(Node::as_text).is_none_or(|id| !bodies.contains(id)));
        own.filter_map(|step| self.step(step, &around)).collect()
    }
}

fn features_of(fields: &mut Fields<'_>) -> Vec<&'static Feature> {
    let findings = fields.findings();
    let mut found = Vec::new();
    for node in fields.list("features") {
        let Some(name) = crate::workflow::fields::text_of(node, "a feature", findings) else { continue };
        let known = features::feature(&name);
        if known.is_none() {
            let names: Vec<&str> = features::FEATURES.iter().map(|feature| feature.name).collect();
            let message = format!("the feature `{name}` is not known here; it adds nothing");
            findings.warning(&node.span, message, or_known(&name, names));
        }
        found.extend(known);
    }
    found
}

fn assessments_of(fields: &mut Fields<'_>) -> BTreeMap<String, Assessment> {
    let mut known = BTreeMap::new();
    let findings = fields.findings();
    let span = fields.raw("assessments").map_or_else(|| fields.span().clone(), |node| node.span.clone());
    for assessment in assess::declared(fields) {
        if known.contains_key(&assessment.id) {
            let message = format!("the assessment `{}` is declared twice", assessment.id);
            findings.error(&span, message, "rename one of them");
        }
        known.insert(assessment.id.clone(), assessment);
    }
    known
}

fn catalog(fields: &mut Fields<'_>) -> Catalog {
    let profiles = ["coding", "review", "research", "design", "ticket", "none"].map(|word| (word, word));
    // Some files give the version of the specification as a number.
    let validated = match fields.raw("validatedAgainstSpecVersion") {
        Some(node) if !node.is_null() => {
            Some(node.as_text().map_or_else(|| node.to_json().to_string(), str::to_owned))
        }
        _ => None,
    };
    fields.required("description");
    Catalog {
        description: text(fields, "description").unwrap_or_default(),
        examples: texts(fields, "examples"),
        metrics_profile: soft_choice(fields, "metricsProfile", &profiles).map(str::to_owned),
        validated_against: validated,
        slots: slots(fields),
    }
}

fn slots(fields: &mut Fields<'_>) -> Vec<Slot> {
    let findings = fields.findings();
    fields.list("extensionPoints").iter().filter_map(|node| slot(node, findings)).collect()
}

fn slot(node: &Node, findings: &Findings) -> Option<Slot> {
    let mut fields = Fields::of(node, "an extension point", findings)?;
    should_have(&mut fields, &["purpose"]);
    let id = fields.required_text("slotId");
    let purpose = text(&mut fields, "purpose").unwrap_or_default();
    let default = fields.required_text("default");
    let accepts = texts(&mut fields, "acceptedKinds");
    for kind in accepts.iter().filter(|kind| !["routine", "workflow"].contains(&kind.as_str())) {
        let message = format!("`acceptedKinds` has `{kind}`, which no source can be");
        findings.warning(&node.span, message, or_known(kind, ["routine", "workflow"]));
    }
    fields.finish();
    Some(Slot { id: id?, purpose, default: default?, accepts })
}

fn preferences(fields: &mut Fields<'_>) -> Option<Preferences> {
    let mut map = fields.map("recommendedPreferences")?;
    let autonomy = ["guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"].map(|word| (word, word));
    let risk = ["conservative", "balanced", "aggressive"].map(|word| (word, word));
    let preferences = Preferences {
        autonomy: soft_choice(&mut map, "recommendedAutonomy", &autonomy).map(str::to_owned),
        risk_policy: soft_choice(&mut map, "recommendedRiskPolicy", &risk).map(str::to_owned),
    };
    map.finish();
    Some(preferences)
}

fn references(fields: &mut Fields<'_>) -> Vec<Reference> {
    let findings = fields.findings();
    fields.list("references").iter().filter_map(|node| reference(node, findings)).collect()
}

fn reference(node: &Node, findings: &Findings) -> Option<Reference> {
    let mut fields = Fields::of(node, "a reference", findings)?;
    should_have(&mut fields, &["purpose", "authoritative"]);
    let from = [("workspace", ResolveFrom::Workspace), ("package", ResolveFrom::Package)];
    let (id, title) = (fields.required_text("id"), fields.required_text("title"));
    let source = fields.required_text("source");
    let purpose = text(&mut fields, "purpose").unwrap_or_default();
    let authoritative = fields.flag("authoritative").unwrap_or(false);
    let resolve_from = soft_choice(&mut fields, "resolveFrom", &from).unwrap_or(ResolveFrom::Workspace);
    fields.finish();
    Some(Reference { id: id?, title: title?, source: source?, purpose, authoritative, resolve_from })
}
