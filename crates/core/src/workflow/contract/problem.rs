//! What is wrong with an artifact, in words that an agent can act on.

mod condition;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ContractError;
use condition::Condition;
pub(super) use condition::mention;

/// More than these help nobody.
const MOST_PROBLEMS: usize = 20;
/// How many other choices are tried.
const MOST_OPTIONS: usize = 16;
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

/// What judges, and what is judged.
pub(super) struct Judge<'a> {
    pub(super) validator: &'a Validator,
    pub(super) schema: &'a Value,
    pub(super) artifact: &'a Value,
}

impl<'a> Judge<'a> {
    /// Everything wrong with the artifact, sorted by place: the library's own order is not the same in each run.
    pub(super) fn gather(&self, example: impl FnOnce() -> Value) -> Vec<Problem> {
        let errors: Vec<_> = self.validator.iter_errors(self.artifact).collect();
        if errors.is_empty() {
            return Vec::new();
        }
        let example = example();
        let mut faults: Vec<Fault<'_>> = errors.iter().map(|error| self.fault(error)).collect();
        // What follows from a choice that was not made contradicts itself. The choice is asked for instead.
        let is_chosen = |fault: &Fault<'_>| fault.conditions.iter().all(|one| one.is_chosen(self.artifact));
        if faults.iter().any(is_chosen) {
            faults.retain(is_chosen);
        }
        faults.sort_by(|one, other| one.problem.cmp(&other.problem));
        faults.dedup_by(|one, other| one.problem == other.problem);
        let left = faults.len().saturating_sub(MOST_PROBLEMS);
        faults.truncate(MOST_PROBLEMS);
        let mut problems: Vec<_> = faults.into_iter().map(|fault| self.advised(fault, &example)).collect();
        if left > 0 {
            problems.push(Problem {
                pointer: String::new(),
                message: format!("{left} further problems are not shown"),
                fix: "mend these first and hand it in again".to_owned(),
            });
        }
        problems
    }

    fn fault<'e>(&self, error: &'e ValidationError<'e>) -> Fault<'e>
    where
        'a: 'e,
    {
        let (evaluation, instance) = (error.evaluation_path().as_str(), error.instance_path().as_str());
        let conditions = condition::lead_to(self.schema, evaluation, instance);
        let mut problem = of_error(error);
        if !conditions.is_empty() {
            let because: Vec<_> = conditions.iter().map(|one| one.said(self.artifact)).collect();
            problem.message = format!("{}, because {}", problem.message, because.join(" and "));
        }
        Fault { error, conditions, problem }
    }

    fn advised(&self, fault: Fault<'_>, example: &Value) -> Problem {
        let Fault { error, conditions, mut problem } = fault;
        if !conditions.is_empty() && !is_addition(error.kind()) {
            problem.fix = self.truth(&conditions, &problem.pointer);
            return problem;
        }
        if let Some(shown) = self.suggestion(error, example) {
            problem.fix = format!("{}, such as `{shown}`", problem.fix);
        }
        problem
    }

    /// What to do about a value that only a choice forbids: one of the two is not true, and only the agent knows which.
    fn truth(&self, conditions: &[Condition<'_>], pointer: &str) -> String {
        let choice = conditions.iter().rev().find_map(Condition::choice);
        let Some((place, options)) = choice else {
            return "hand in what is true: change this only if it is wrong, else what the condition is about"
                .to_owned();
        };
        let current = self.artifact.pointer(&place);
        let would_do = |option: &&Value| {
            let changed = self.with(&place, option);
            Some(*option) != current
                && changed.is_some_and(|changed| {
                    self.validator
                        .iter_errors(&changed)
                        .all(|error| error.instance_path().as_str() != pointer)
                })
        };
        let options: Vec<String> = options.iter().take(MOST_OPTIONS).filter(would_do).map(quoted).collect();
        let place = condition::named(&place);
        if options.is_empty() {
            return format!("hand in what is true: change this only if it is wrong, else {place}");
        }
        format!("hand in what is true: if this is right, {place} is {}", options.join(" or "))
    }

    /// What an example has at the place of the problem, if it mends the problem; a value that would not is no help.
    fn suggestion(&self, error: &ValidationError<'_>, example: &Value) -> Option<String> {
        let pointer = error.instance_path().as_str();
        let (place, there) = match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str()?;
                let place = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                (place, example.pointer(pointer)?.get(name)?)
            }
            ValidationErrorKind::Type { .. }
            | ValidationErrorKind::Pattern { .. }
            | ValidationErrorKind::Format { .. }
            | ValidationErrorKind::MinItems { .. } => (pointer.to_owned(), example.pointer(pointer)?),
            _ => return None,
        };
        let shown = there.to_string();
        if shown.chars().count() > MOST_QUOTED {
            return None;
        }
        let changed = self.with(&place, there)?;
        let is_there = |error: ValidationError<'_>| {
            let path = error.instance_path().as_str();
            path == place || path.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        (!self.validator.iter_errors(&changed).any(is_there)).then_some(shown)
    }

    /// The artifact with another value at a place, where there is room for it.
    fn with(&self, place: &str, value: &Value) -> Option<Value> {
        let mut changed = self.artifact.clone();
        if let Some(there) = changed.pointer_mut(place) {
            *there = value.clone();
            return Some(changed);
        }
        let (parent, name) = place.rsplit_once('/')?;
        let name = name.replace("~1", "/").replace("~0", "~");
        changed.pointer_mut(parent)?.as_object_mut()?.insert(name, value.clone());
        Some(changed)
    }
}

/// One error with what put its demand in force.
struct Fault<'a> {
    error: &'a ValidationError<'a>,
    conditions: Vec<Condition<'a>>,
    problem: Problem,
}

/// Whether the remedy is to write more, which falsifies nothing.
fn is_addition(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Required { .. }
            | ValidationErrorKind::Type { .. }
            | ValidationErrorKind::Pattern { .. }
            | ValidationErrorKind::Format { .. }
            | ValidationErrorKind::MinLength { .. }
            | ValidationErrorKind::MinItems { .. }
            | ValidationErrorKind::MinProperties { .. }
            | ValidationErrorKind::Contains
    )
}

/// Only what is wrong with sizes and patterns.
pub(super) fn gather_limits(validator: &Validator, value: &Value) -> Vec<Problem> {
    let errors = validator.iter_errors(value).filter(|error| is_limit(error.kind()));
    let mut problems: Vec<_> = errors.map(|error| of_error(&error)).collect();
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

pub(super) fn of_error(error: &ValidationError<'_>) -> Problem {
    let value = error.instance();
    let Words { message, fix } = words(error.kind(), value)
        .or_else(|| limit_words(error.kind(), value))
        .unwrap_or_else(|| form_words(error));
    Problem { pointer: error.instance_path().as_str().to_owned(), message, fix }
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
        let has = match value {
            Value::Array(items) => items.len(),
            Value::Object(fields) => fields.len(),
            Value::String(text) => text.chars().count(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        };
        let (has, limit) = (counted(has as u64, what), counted(limit, what));
        say(format!("it has {has} and must have {word} {limit}"), format!("give {word} {limit}"))
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
        ValidationErrorKind::MinLength { limit } => size("character", "at least", *limit),
        ValidationErrorKind::MaxLength { limit } => size("character", "at most", *limit),
        ValidationErrorKind::MinItems { limit } => size("entry", "at least", *limit),
        ValidationErrorKind::MaxItems { limit } => size("entry", "at most", *limit),
        ValidationErrorKind::MinProperties { limit } => size("key", "at least", *limit),
        ValidationErrorKind::MaxProperties { limit } => size("key", "at most", *limit),
        ValidationErrorKind::AdditionalItems { limit } => size("entry", "at most", *limit as u64),
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
fn form_words(error: &ValidationError<'_>) -> Words {
    match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            none_of(context)
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            say("it fits several forms of which only one may fit", "leave out what belongs to the others")
        }
        ValidationErrorKind::Not { .. } | ValidationErrorKind::FalseSchema => {
            say(format!("{} is not allowed here", quoted(error.instance())), "leave it out, or change it")
        }
        ValidationErrorKind::PropertyNames { error } => {
            let inner = of_error(error);
            say(format!("one of its keys is wrong: {}", inner.message), inner.fix)
        }
        _ => say(
            error.masked().to_string().trim_end_matches('.').to_lowercase(),
            format!("see `{}` of the schema", error.kind().keyword()),
        ),
    }
}

/// A value that fits none of several forms. Which of them is meant is the agent's to say.
fn none_of(forms: &[Vec<ValidationError<'_>>]) -> Words {
    let message = format!("it fits none of the {} forms that are allowed", forms.len());
    if let Some(words) = undecided(forms) {
        return Words { message: format!("{message}: {}", words.message), ..words };
    }
    let nearest = forms.iter().filter(|errors| !errors.is_empty()).min_by_key(|errors| {
        // A branch for another type of value is further off than one with many small faults.
        let other_type = errors.iter().any(|error| {
            matches!(error.kind(), ValidationErrorKind::Type { .. } | ValidationErrorKind::Constant { .. })
        });
        (other_type, errors.len())
    });
    let mut problems: Vec<_> = nearest
        .into_iter()
        .flatten()
        .map(|error| {
            let mut problem = of_error(error);
            if is_choice(error.kind()) {
                "hand in what is true: change this only if it is wrong, else choose another form"
                    .clone_into(&mut problem.fix);
            }
            problem
        })
        .collect();
    problems.sort();
    let nearest = problems.first().map_or_else(String::new, |problem| format!(": {problem}"));
    say(message, format!("make it fit the nearest form{nearest}"))
}

/// The value by which every form is told from the others, where it names none of them.
fn undecided(forms: &[Vec<ValidationError<'_>>]) -> Option<Words> {
    let constant = |place: &str, errors: &[ValidationError<'_>]| {
        errors.iter().find_map(|error| match error.kind() {
            ValidationErrorKind::Constant { expected_value } if error.instance_path().as_str() == place => {
                Some(quoted(expected_value))
            }
            _ => None,
        })
    };
    let constants = forms.first()?.iter().filter(|error| is_choice(error.kind()));
    let mut places: Vec<_> =
        constants.map(|error| (error.instance_path().as_str(), error.instance())).collect();
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().find_map(|(place, value)| {
        let wanted = forms.iter().map(|errors| constant(place, errors)).collect::<Option<Vec<_>>>()?;
        let message = format!("{} is {}", condition::named(place), quoted(value));
        Some(say(
            message,
            format!("choose the form by {}: one of {}", condition::named(place), wanted.join(", ")),
        ))
    })
}

const fn is_choice(kind: &ValidationErrorKind) -> bool {
    matches!(kind, ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. })
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

/// A number with what it counts.
fn counted(number: u64, what: &str) -> String {
    match (number, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) if what == "entry" => format!("{number} {stem}ies"),
        _ => format!("{number} {what}s"),
    }
}

fn quoted(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= MOST_QUOTED {
        return format!("`{text}`");
    }
    format!("`{}…`", text.chars().take(MOST_QUOTED).collect::<String>())
}
