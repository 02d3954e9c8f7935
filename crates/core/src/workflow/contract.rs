//! Contracts: JSON Schemas that artifacts must fit, each with an example that fits.
//!
//! Nothing is fetched: a schema stands alone. Patterns are matched within a limit, so that no schema and no
//! artifact can hold the engine up.

mod builtin;
mod example;
mod hand_off;
mod like;
mod problem;
mod refer;
mod validator;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use builtin::{builtin, builtin_names};
pub use problem::Problem;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// What the artifact's `kind` says, where the contract has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub schema: Value,
    /// Always fits the schema.
    pub example: Value,
}

/// Why a value cannot serve as a contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    #[error("a schema must be a map or a truth value, not {found}; write `{{type: object, …}}`")]
    NotASchema { found: &'static str },
    #[error("the schema lies more than {most} levels deep; move parts of it to `$defs`")]
    TooDeep { most: usize },
    #[error("the schema is wrong at `{pointer}`: {message}; put that keyword right")]
    Invalid { pointer: String, message: String },
    #[error(
        "the schema refers to `{reference}`, and nothing is fetched; copy that part into `$defs` and refer to `#/$defs/…`"
    )]
    Elsewhere { reference: String },
    #[error("no example could be made that fits the schema; add `examples:` with one value that does")]
    NoExample,
}

impl Contract {
    /// Judges an artifact. Problems come in the order of their places.
    pub fn check(&self, artifact: &Value) -> Result<(), Vec<Problem>> {
        let validator = match validator::build(&self.schema) {
            Ok(validator) => validator,
            Err(error) => return Err(vec![Problem::of_schema(&error)]),
        };
        let example = || like::make(&self.schema, &validator, artifact, &self.example);
        let judge = problem::Judge { validator: &validator, schema: &self.schema, artifact };
        let problems = judge.gather(example);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// An example that makes the same choices as an artifact, where the schema asks for other things by choice.
    pub fn example_like(&self, artifact: &Value) -> Value {
        match validator::build(&self.schema) {
            Ok(validator) => like::make(&self.schema, &validator, artifact, &self.example),
            Err(_) => self.example.clone(),
        }
    }
}

/// Makes a contract of an author's schema.
pub fn of_schema(schema: &Value) -> Result<Contract, ContractError> {
    let validator = validator::build(schema)?;
    let example = example::make(schema, |value| validator.is_valid(value)).ok_or(ContractError::NoExample)?;
    Ok(Contract { kind: kind_of(schema), schema: schema.clone(), example })
}

/// Whether a value is a schema that can be judged by.
pub fn check_schema(schema: &Value) -> Result<(), ContractError> {
    validator::build(schema).map(|_| ())
}

/// A schema of which only the limits of size and pattern are asked.
#[derive(Debug)]
pub(crate) struct Limits(jsonschema::Validator);

pub(crate) fn limits_of(schema: &Value) -> Result<Limits, ContractError> {
    validator::build(schema).map(Limits)
}

impl Limits {
    /// Where a value is longer, shorter, larger or otherwise written than allowed, by place.
    pub(crate) fn exceeded(&self, value: &Value) -> Vec<Problem> {
        problem::gather_limits(&self.0, value)
    }
}

fn kind_of(schema: &Value) -> Option<String> {
    let kind = schema.pointer("/properties/kind/const")?;
    kind.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
