//! Building the judge of a schema, with every way out to the world shut.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::ContractError;

/// How deep a schema may lie.
const MOST_LEVELS: usize = 64;
/// How often a pattern may go back before the value counts as not fitting.
const MOST_BACKTRACKS: usize = 100_000;
const MOST_PATTERN_BYTES: usize = 1 << 20;

pub(super) fn build(schema: &Value) -> Result<Validator, ContractError> {
    check_shape(schema)?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(MOST_BACKTRACKS)
        .size_limit(MOST_PATTERN_BYTES)
        .dfa_size_limit(MOST_PATTERN_BYTES);
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .with_pattern_options(patterns)
        .build(schema)
        .map_err(|error| refusal(schema, &error))
}

fn check_shape(schema: &Value) -> Result<(), ContractError> {
    if !(schema.is_object() || schema.is_boolean()) {
        return Err(ContractError::NotASchema { found: super::problem::kind_word(schema) });
    }
    if deeper_than(schema, MOST_LEVELS) {
        return Err(ContractError::TooDeep { most: MOST_LEVELS });
    }
    Ok(())
}

fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| deeper_than(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| deeper_than(item, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn refusal(schema: &Value, error: &jsonschema::ValidationError<'_>) -> ContractError {
    if let ValidationErrorKind::Referencing(reason) = error.kind() {
        let reference = far_reference(schema).unwrap_or_else(|| reason.to_string());
        return ContractError::Elsewhere { reference };
    }
    ContractError::Invalid {
        pointer: super::problem::place(error.instance_path().as_str()),
        message: super::problem::of_error(error).message,
    }
}

/// The first reference that does not stay inside the schema.
fn far_reference(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(map) => map.iter().find_map(|(key, value)| match value.as_str() {
            Some(target) if key == "$ref" && !resolves(target) => Some(target.to_owned()),
            _ => far_reference(value),
        }),
        Value::Array(items) => items.iter().find_map(far_reference),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn resolves(target: &str) -> bool {
    target.starts_with('#')
}
