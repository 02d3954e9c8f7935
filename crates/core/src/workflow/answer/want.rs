//! What a step wants as artifacts, and how they are told apart.

use serde_json::{Map, Value};

use super::super::Workflow;
use super::super::contract::Contract;
use super::super::prompt::{Assessment, Control, OutputContract, Prompt};
use super::assessed;
use super::vars::Given;

pub(super) const CONTROL_KINDS: [&str; 3] = ["wr.loop_control", "wr.contracts.loop_control", "loop_control"];
pub(super) const ASSESSMENT_KINDS: [&str; 3] = ["wr.assessment", "wr.contracts.assessment", "assessment"];

/// Something that the step wants as an artifact.
pub(super) struct Want<'a> {
    pub what: What<'a>,
    /// The declaration it comes from, where there is one.
    pub output: Option<&'a OutputContract>,
    pub required: bool,
}

pub(super) enum What<'a> {
    Fits(&'a Contract, &'a str),
    Decides(&'a Control),
    Assesses(&'a Assessment),
}

/// Everything that the step wants. A contract that is not known wants nothing.
pub(super) fn wants<'a>(workflow: &'a Workflow, prompt: &'a Prompt) -> Vec<Want<'a>> {
    let mut wants = Vec::new();
    let output_of = |kinds: &[&str]| {
        prompt.outputs.iter().find(|output| {
            let kind = workflow.contracts.get(&output.contract).and_then(|contract| contract.kind.as_deref());
            kinds.contains(&output.contract.as_str()) || kind.is_some_and(|kind| kinds.contains(&kind))
        })
    };
    let control_output = prompt.control.as_ref().and_then(|_| output_of(&CONTROL_KINDS));
    if let Some(control) = &prompt.control {
        let required = control_output.is_none_or(|output| output.required);
        wants.push(Want { what: What::Decides(control), output: control_output, required });
    }
    let assessed = !prompt.assessments.is_empty();
    let assessment_output = if assessed { output_of(&ASSESSMENT_KINDS) } else { None };
    for assessment in &prompt.assessments {
        wants.push(Want { what: What::Assesses(assessment), output: assessment_output, required: true });
    }
    for output in &prompt.outputs {
        let is = |other: Option<&OutputContract>| other.is_some_and(|other| std::ptr::eq(other, output));
        if is(control_output) || is(assessment_output) {
            continue;
        }
        if let Some(contract) = workflow.contracts.get(&output.contract) {
            let what = What::Fits(contract, &output.contract);
            wants.push(Want { what, output: Some(output), required: output.required });
        }
    }
    wants
}

impl Want<'_> {
    pub(super) fn claims(&self, artifact: &Value, wants: &[Want<'_>]) -> bool {
        let Some(kind) = kind(artifact) else { return false };
        match &self.what {
            What::Fits(contract, name) => contract.kind.as_deref() == Some(kind) || *name == kind,
            What::Decides(control) => {
                CONTROL_KINDS.contains(&kind)
                    && text(artifact, "loopId").is_none_or(|id| id == control.loop_id)
            }
            What::Assesses(assessment) => {
                let is_only = wants.iter().filter(|want| matches!(want.what, What::Assesses(_))).count() == 1;
                ASSESSMENT_KINDS.contains(&kind)
                    && text(artifact, "assessmentId").map_or(is_only, |id| id == assessment.id)
            }
        }
    }

    pub(super) fn name(&self) -> String {
        match &self.what {
            What::Fits(_, name) => format!("`{name}`"),
            What::Decides(control) => format!("the decision about loop `{}`", control.loop_id),
            What::Assesses(assessment) => format!("the assessment `{}`", assessment.id),
        }
    }

    /// The `kind` by which its artifact is found among others, where it can have one.
    pub(super) fn kind(&self) -> Option<&str> {
        match &self.what {
            What::Fits(contract, _) if contract.kind.is_some() => contract.kind.as_deref(),
            What::Fits(contract, name) => {
                let is_free = contract.example.as_object().is_some_and(|fields| !fields.contains_key("kind"));
                (is_free && !has_kind(&contract.schema)).then_some(name)
            }
            What::Decides(_) => Some("wr.loop_control"),
            What::Assesses(_) => Some("wr.assessment"),
        }
    }

    pub(super) fn can_be_named(&self) -> bool {
        self.kind().is_some()
    }

    /// An artifact that is accepted as it stands, also among others.
    pub(super) fn example(&self) -> Value {
        match &self.what {
            What::Fits(contract, _) => match self.kind() {
                Some(kind) => with_kind(&contract.example, kind),
                None => contract.example.clone(),
            },
            What::Decides(control) => {
                serde_json::json!({"kind": "wr.loop_control", "loopId": control.loop_id, "decision": "continue"})
            }
            What::Assesses(assessment) => assessed::example(assessment),
        }
    }

    /// What to fill in. An assessment leaves the levels open, so that none is suggested.
    pub(super) fn form(&self) -> Value {
        match &self.what {
            What::Fits(..) | What::Decides(_) => self.example(),
            What::Assesses(assessment) => assessed::form(assessment),
        }
    }
}

pub(super) fn is_known(given: &Given<'_>, kind: &str) -> bool {
    let mut contracts = given.workflow.contracts.iter();
    CONTROL_KINDS.contains(&kind)
        || ASSESSMENT_KINDS.contains(&kind)
        || contracts.any(|(name, contract)| name == kind || contract.kind.as_deref() == Some(kind))
}

pub(super) fn kind(artifact: &Value) -> Option<&str> {
    text(artifact, "kind")
}

pub(super) fn text<'a>(artifact: &'a Value, field: &str) -> Option<&'a str> {
    artifact.get(field)?.as_str().map(str::trim)
}

pub(super) fn with_kind(artifact: &Value, kind: &str) -> Value {
    let Value::Object(fields) = artifact else { return artifact.clone() };
    if fields.contains_key("kind") {
        return artifact.clone();
    }
    let named = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    Value::Object(named.into_iter().chain(fields.clone()).collect())
}

pub(super) fn has_kind(schema: &Value) -> bool {
    schema.pointer("/properties/kind").is_some()
}
