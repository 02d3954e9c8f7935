//! What is wrong with an artifact, in words that an agent can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ContractError;

/// More than these help nobody.
const MOST_PROBLEMS: usize = 20;
/// The longest value that is quoted.
const MOST_QUOTED: usize = 80;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// A JSON pointer into the artifact; empty for the whole.
    pub pointer: String,
    /// Lower case, no full stop, code in backticks.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

impl Problem {
    pub(super) fn of_schema(error: &ContractError) -> Self {
        Self {
            pointer: String::new(),
            message: format!("the contract itself cannot be judged: {error}"),
            fix: "mend the contract in the workflow and start a new session".to_owned(),
        }
    }

    /// Goes on after "does not fit": where, and what is wrong.
    pub(crate) fn said(&self) -> String {
        match self.pointer.as_str() {
            "" => format!(": {}", self.message),
            pointer => format!(" at `{pointer}`: {}", self.message),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at `{}`: {}; {}", place(&self.pointer), self.message, self.fix)
    }
}

/// Everything wrong with an artifact, sorted by place: the library's own order is not the same in each run.
pub(super) fn gather(validator: &Validator, artifact: &Value, example: &Value) -> Vec<Problem> {
    let mut problems: Vec<_> =
        validator.iter_errors(artifact).map(|error| of_error(&error, Some(example))).collect();
    problems.sort();
    problems.dedup();
    if problems.len() > MOST_PROBLEMS {
        let left = problems.len() - MOST_PROBLEMS;
        problems.truncate(MOST_PROBLEMS);
        problems.push(Problem {
            pointer: String::new(),
            message: format!("{left} further problems are not shown"),
            fix: "mend these first and hand it in again".to_owned(),
        });
    }
    problems
}

/// Only what is wrong with sizes and patterns.
pub(super) fn gather_limits(validator: &Validator, value: &Value) -> Vec<Problem> {
    let errors = validator.iter_errors(value).filter(|error| is_limit(error.kind()));
    let mut problems: Vec<_> = errors.map(|error| of_error(&error, None)).collect();
    problems.sort();
    problems.dedup();
    problems
}

fn is_limit(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::MinLength { .. }
            | ValidationErrorKind::MaxLength { .. }
            | ValidationErrorKind::Minimum { .. }
            | ValidationErrorKind::Maximum { .. }
            | ValidationErrorKind::MinItems { .. }
            | ValidationErrorKind::MaxItems { .. }
            | ValidationErrorKind::UniqueItems
            | ValidationErrorKind::Pattern { .. }
    )
}

pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() { "/".to_owned() } else { pointer.to_owned() }
}

pub(super) fn kind_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

pub(super) fn of_error(error: &ValidationError<'_>, example: Option<&Value>) -> Problem {
    let pointer = error.instance_path().as_str().to_owned();
    let value = error.instance();
    let Words { message, fix } = words(error.kind(), value)
        .or_else(|| limit_words(error.kind(), value))
        .unwrap_or_else(|| form_words(error, example));
    let fix = match example.and_then(|example| example_for(error.kind(), example, &pointer)) {
        Some(shown) => format!("{fix}, such as `{shown}`"),
        None => fix,
    };
    Problem { pointer, message, fix }
}

/// What an example has at the place of the problem; nothing where a quoted value would not help.
fn example_for(kind: &ValidationErrorKind, example: &Value, pointer: &str) -> Option<String> {
    let there = match kind {
        ValidationErrorKind::Required { property } => example.pointer(pointer)?.get(property.as_str()?)?,
        ValidationErrorKind::Type { .. }
        | ValidationErrorKind::Pattern { .. }
        | ValidationErrorKind::Format { .. }
        | ValidationErrorKind::MinItems { .. } => example.pointer(pointer)?,
        _ => return None,
    };
    let shown = there.to_string();
    (shown.chars().count() <= MOST_QUOTED).then_some(shown)
}

struct Words {
    message: String,
    fix: String,
}

fn say(message: impl Into<String>, fix: impl Into<String>) -> Words {
    Words { message: message.into(), fix: fix.into() }
}

/// Problems of one value by itself.
fn words(kind: &ValidationErrorKind, value: &Value) -> Option<Words> {
    let said = match kind {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            say(format!("`{name}` is missing"), format!("add `{name}`"))
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = wanted_types(kind);
            say(format!("it is {} and must be {wanted}", kind_word(value)), format!("give {wanted}"))
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(|all| all.iter().map(quoted).collect::<Vec<_>>());
            let options = options.unwrap_or_default().join(", ");
            say(format!("{} is not allowed here", quoted(value)), format!("use one of {options}"))
        }
        ValidationErrorKind::Constant { expected_value } => {
            let wanted = quoted(expected_value);
            say(format!("it is {} and must be {wanted}", quoted(value)), format!("write {wanted}"))
        }
        ValidationErrorKind::Pattern { pattern } => say(
            format!("{} does not match `{pattern}`", quoted(value)),
            format!("write a text that matches `{pattern}`"),
        ),
        ValidationErrorKind::Format { format } => {
            say(format!("{} is not a valid {format}", quoted(value)), format!("write a valid {format}"))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names = unexpected.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            say(format!("{names} has no place here"), "leave it out, or correct its name")
        }
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. } => {
            say("the text could not be matched within the limit of steps", "write a shorter text")
        }
        _ => return None,
    };
    Some(said)
}

/// Problems of size.
fn limit_words(kind: &ValidationErrorKind, value: &Value) -> Option<Words> {
    let number = |word: &str, limit: &Value| {
        say(format!("{} must be {word} {limit}", quoted(value)), format!("give a number {word} {limit}"))
    };
    let size = |what: &str, word: &str, limit: u64| {
        say(format!("it has the wrong number of {what}"), format!("give {word} {limit} {what}"))
    };
    let said = match kind {
        ValidationErrorKind::Minimum { limit } => number("at least", limit),
        ValidationErrorKind::Maximum { limit } => number("at most", limit),
        ValidationErrorKind::ExclusiveMinimum { limit } => number("above", limit),
        ValidationErrorKind::ExclusiveMaximum { limit } => number("below", limit),
        ValidationErrorKind::MultipleOf { multiple_of } => say(
            format!("{} is not a multiple of {multiple_of}", quoted(value)),
            format!("give a multiple of {multiple_of}"),
        ),
        ValidationErrorKind::MinLength { limit } => size("characters", "at least", *limit),
        ValidationErrorKind::MaxLength { limit } => size("characters", "at most", *limit),
        ValidationErrorKind::MinItems { limit } => size("entries", "at least", *limit),
        ValidationErrorKind::MaxItems { limit } => size("entries", "at most", *limit),
        ValidationErrorKind::MinProperties { limit } => size("keys", "at least", *limit),
        ValidationErrorKind::MaxProperties { limit } => size("keys", "at most", *limit),
        ValidationErrorKind::AdditionalItems { limit } => size("entries", "at most", *limit as u64),
        ValidationErrorKind::UnevaluatedItems { .. } => {
            say("it has entries that have no place here", "leave the last entries out")
        }
        ValidationErrorKind::UniqueItems => {
            say("it has the same entry more than once", "leave the repeated entry out")
        }
        ValidationErrorKind::Contains => {
            say("none of its entries is of the kind that must be there", "add an entry of that kind")
        }
        _ => return None,
    };
    Some(said)
}

/// Problems of a value that may have one of several forms, and what is rarer still.
fn form_words(error: &ValidationError<'_>, example: Option<&Value>) -> Words {
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let nearest = context.iter().filter(|errors| !errors.is_empty()).min_by_key(|errors| {
                // A branch for another type of value is further off than one with many small faults.
                let other_type = errors.iter().any(|error| {
                    matches!(
                        error.kind(),
                        ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. }
                    )
                });
                (other_type, errors.len())
            });
            let mut problems: Vec<_> =
                nearest.into_iter().flatten().map(|error| of_error(error, example)).collect();
            problems.sort();
            let nearest = problems.first().map_or_else(String::new, |problem| format!(": {problem}"));
            say(
                format!("it fits none of the {} forms that are allowed", context.len()),
                format!("make it fit the nearest form{nearest}"),
            )
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            say("it fits several forms of which only one may fit", "leave out what belongs to the others")
        }
        ValidationErrorKind::Not { .. } | ValidationErrorKind::FalseSchema => {
            say(format!("{} is not allowed here", quoted(error.instance())), "leave it out, or change it")
        }
        ValidationErrorKind::PropertyNames { error } => {
            let inner = of_error(error, None);
            say(format!("one of its keys is wrong: {}", inner.message), inner.fix)
        }
        _ => say(
            error.masked().to_string().trim_end_matches('.').to_lowercase(),
            format!("see `{}` of the schema", error.kind().keyword()),
        ),
    }
}

fn wanted_types(kind: &TypeKind) -> String {
    let names: Vec<String> = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
    };
    let words: Vec<_> = names.iter().map(|name| type_word(name)).collect();
    words.join(" or ")
}

fn type_word(name: &str) -> &str {
    match name {
        "string" => "a text",
        "number" => "a number",
        "integer" => "a whole number",
        "boolean" => "a truth value",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn quoted(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= MOST_QUOTED {
        return format!("`{text}`");
    }
    format!("`{}…`", text.chars().take(MOST_QUOTED).collect::<String>())
}
