//! What a step wants handed in, as data for callers.

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::super::prompt::{Notes, Prompt};
use super::super::{Step, StepKind, Workflow};
use super::assessed;
use super::want::{Want, What, wants};

/// Serialises to the `requires` of the answer to start and advance.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requires {
    pub notes: NotesRequired,
    pub contracts: Vec<ContractRequired>,
    pub assessments: Vec<AssessmentRequired>,
    /// Vars that the answer must leave set.
    pub context_keys: Vec<String>,
}

/// Serialises to `true`, `false` or `"optional"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesRequired {
    Yes,
    No,
    Optional,
}

impl Serialize for NotesRequired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Yes => serializer.serialize_bool(true),
            Self::No => serializer.serialize_bool(false),
            Self::Optional => serializer.serialize_str("optional"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContractRequired {
    #[serde(rename = "ref")]
    pub reference: String,
    /// What the artifact's `kind` says, where the contract or the company of others asks for one.
    #[serde(skip)]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "is_true")]
    pub required: bool,
    pub schema: Value,
    /// Accepted as it stands.
    pub example: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssessmentRequired {
    pub id: String,
    #[serde(skip)]
    pub purpose: String,
    /// Accepted as it stands, as far as any levels are.
    #[serde(skip)]
    pub example: Value,
    pub dimensions: Vec<DimensionRequired>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DimensionRequired {
    pub id: String,
    #[serde(skip)]
    pub purpose: String,
    pub levels: Vec<String>,
    #[serde(skip_serializing_if = "is_true")]
    pub required: bool,
}

/// Callers expect what is listed to be required, so only the exception is said.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

/// What the answer to this step must have. Steps that no agent answers want nothing.
pub fn requirements(workflow: &Workflow, step: &Step) -> Requires {
    match &step.kind {
        StepKind::Prompt(prompt) => of_prompt(workflow, prompt),
        StepKind::Loop(_)
        | StepKind::Todo(_)
        | StepKind::Routine(_)
        | StepKind::Run(_)
        | StepKind::Gather(_)
        | StepKind::Gate(_)
        | StepKind::Parallel(_)
        | StepKind::Spawn(_)
        | StepKind::Decide(_)
        | StepKind::Deliver(_) => Requires {
            notes: NotesRequired::No,
            contracts: vec![],
            assessments: vec![],
            context_keys: vec![],
        },
    }
}

/// The example is told apart from the schema, so it need not be read twice.
fn without_examples(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(map) = &mut schema {
        map.shift_remove("examples");
    }
    schema
}

/// The schema as a caller may judge by it, who does not take the name off first.
fn with_kind_allowed(mut schema: Value, kind: &str) -> Value {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("kind".to_owned(), json!({ "const": kind }));
    } else if let Value::Object(map) = &mut schema {
        map.insert("properties".to_owned(), json!({ "kind": { "const": kind } }));
    }
    schema
}

fn of_prompt(workflow: &Workflow, prompt: &Prompt) -> Requires {
    let wants = wants(workflow, prompt);
    let is_several = wants.len() > 1;
    let contracts = prompt.outputs.iter().filter_map(|output| {
        let contract = workflow.contracts.get(&output.contract)?;
        let of_output = |want: &&Want<'_>| want.output.is_some_and(|it| std::ptr::eq(it, output));
        let want = wants.iter().find(of_output)?;
        let is_alone = !is_several && matches!(want.what, What::Fits(..));
        let kind = if is_alone { contract.kind.as_deref() } else { want.kind() };
        let schema = without_examples(&contract.schema);
        Some(ContractRequired {
            reference: output.contract.clone(),
            kind: kind.map(str::to_owned),
            required: output.required,
            schema: match (kind, &contract.kind) {
                (Some(kind), None) => with_kind_allowed(schema, kind),
                (None | Some(_), _) => schema,
            },
            example: if is_alone { contract.example.clone() } else { want.example() },
        })
    });
    let assessments = prompt.assessments.iter().map(|assessment| AssessmentRequired {
        id: assessment.id.clone(),
        purpose: assessment.purpose.clone(),
        example: assessed::example(assessment),
        dimensions: assessment.dimensions.iter().map(dimension).collect(),
    });
    Requires {
        notes: match prompt.notes {
            Notes::Required => NotesRequired::Yes,
            Notes::Optional => NotesRequired::Optional,
            Notes::None => NotesRequired::No,
        },
        contracts: contracts.collect(),
        assessments: assessments.collect(),
        context_keys: prompt.produces.keys().cloned().collect(),
    }
}

fn dimension(dimension: &super::super::prompt::Dimension) -> DimensionRequired {
    DimensionRequired {
        id: dimension.id.clone(),
        purpose: dimension.purpose.clone(),
        levels: dimension.levels.clone(),
        required: dimension.required,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_notes_are_wanted_is_a_yes_a_no_or_a_word() {
        let all = [NotesRequired::Yes, NotesRequired::No, NotesRequired::Optional];
        assert_eq!(serde_json::to_value(all).unwrap(), json!([true, false, "optional"]));
    }
}
