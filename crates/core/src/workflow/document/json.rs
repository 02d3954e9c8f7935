//! JSON, to the letter: no comments, no trailing commas, nothing of its dialects.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Diagnostic, Key, Limits, Node, NodeValue, check_text, map_of, too_deep};

pub(super) fn parse(text: &str, limits: &mut Limits) -> Result<Option<Node>, Diagnostic> {
    let result = parse_to_ast(text, &CollectOptions::default(), &strict())
        .map_err(|error| syntax_error(&error, limits))?;
    result.value.map(|value| node_of(value, limits, 0)).transpose()
}

fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn syntax_error(error: &ParseError, limits: &Limits) -> Diagnostic {
    let range = error.range();
    let place = limits.place(range.start..range.end);
    match error.kind() {
        ParseErrorKind::NestingDepthExceeded => too_deep(place),
        kind => {
            let words = kind.to_string();
            let mut letters = words.chars();
            let words: String =
                letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
            Diagnostic::error(place, format!("this is not JSON: {words}"))
                .fix("look at the commas, quotes and brackets here and just before")
        }
    }
}

/// `around` counts the lists and maps around the value.
fn node_of(value: Value<'_>, limits: &mut Limits, around: usize) -> Result<Node, Diagnostic> {
    let range = value.range();
    let span = limits.place(range.start..range.end);
    limits.admit(&span, around)?;
    let value = match value {
        Value::NullKeyword(_) => NodeValue::Null,
        Value::BooleanLit(literal) => NodeValue::Bool(literal.value),
        Value::NumberLit(literal) => {
            NodeValue::Number(serde_json::from_str(literal.value).map_err(|_| {
                Diagnostic::error(
                    span.clone(),
                    format!("`{}` is not a number that can be kept", literal.value),
                )
                .fix("write a smaller number, or put it in quotes")
            })?)
        }
        Value::StringLit(literal) => {
            check_text(&literal.value, &span)?;
            NodeValue::Text(literal.value.into_owned())
        }
        Value::Array(array) => NodeValue::List(
            array
                .elements
                .into_iter()
                .map(|element| node_of(element, limits, around + 1))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(object) => {
            let mut entries = Vec::with_capacity(object.properties.len());
            for property in object.properties {
                let key = key_of(property.name, limits)?;
                entries.push((key, node_of(property.value, limits, around + 1)?));
            }
            map_of(entries)?
        }
    };
    Ok(Node { span, value })
}

fn key_of(name: ObjectPropName<'_>, limits: &Limits) -> Result<Key, Diagnostic> {
    let range = name.range();
    let span = limits.place(range.start..range.end);
    let name = name.into_string();
    check_text(&name, &span)?;
    Ok(Key { span, name })
}
