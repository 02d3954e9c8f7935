//! Slips in the author's schemas that JSON Schema itself lets pass: a keyword it does not know means nothing to it.

use super::super::document::{Node, NodeValue};
use super::super::fields::Findings;
use super::super::suggest::closest;

/// Keywords whose value is a schema, or a list of schemas.
const HOLD_SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value maps names to schemas.
const NAME_SCHEMAS: &[&str] =
    &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

const OTHERS: &[&str] = &[
    "$anchor",
    "$comment",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "default",
    "dependentRequired",
    "dependencies",
    "deprecated",
    "description",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// Warns of every keyword that is nearly one that means something.
pub(super) fn warn_of_slips(schema: &Node, findings: &Findings) {
    let known = || HOLD_SCHEMAS.iter().chain(NAME_SCHEMAS).chain(OTHERS).copied();
    for (key, value) in schema.entries() {
        let name = key.name.as_str();
        if HOLD_SCHEMAS.contains(&name) {
            match &value.value {
                NodeValue::List(schemas) => schemas.iter().for_each(|one| warn_of_slips(one, findings)),
                _ => warn_of_slips(value, findings),
            }
        } else if NAME_SCHEMAS.contains(&name) {
            value.entries().iter().for_each(|(_, one)| warn_of_slips(one, findings));
        } else if !OTHERS.contains(&name)
            && let Some(word) = closest(name, known())
        {
            let message = format!("a schema has no keyword `{name}`, so it demands nothing");
            findings.warning(&key.span, message, format!("did you mean `{word}`?"));
        }
    }
}
