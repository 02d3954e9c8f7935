//! Judging a condition. Strings are compared leniently, because agents write `High` where an author wrote `high`.

use serde_json::{Number, Value};

use super::super::allowance::Allowance;
use super::super::pattern::Pattern;
use super::super::scope::{Found, Scope, cut, plain, preview, type_name};
use super::{Condition, Judged, Test};

/// The longest reason that a nested condition gives.
const LONGEST_BECAUSE: usize = 400;

impl Condition {
    /// Says whether it holds, and which values decided.
    pub fn judge(&self, scope: &Scope<'_>) -> Judged {
        match self {
            Self::All(parts) => judge_all(parts, scope),
            Self::Any(parts) => judge_any(parts, scope),
            Self::Not(part) => {
                let judged = part.judge(scope);
                Judged { holds: !judged.holds, because: format!("not ({})", judged.because) }
            }
            Self::Var { path, tests } => judge_var(path, tests, scope),
        }
    }
}

/// The first part that fails decides; if none does, all of them did.
fn judge_all(parts: &[Condition], scope: &Scope<'_>) -> Judged {
    let mut reasons = Vec::new();
    for part in parts {
        let judged = part.judge(scope);
        if !judged.holds {
            return judged;
        }
        reasons.push(judged.because);
    }
    let because = if reasons.is_empty() { "nothing is asked".to_owned() } else { reasons.join("; ") };
    Judged { holds: true, because: cut(&because, LONGEST_BECAUSE) }
}

/// The first part that holds decides; if none does, all of them did.
fn judge_any(parts: &[Condition], scope: &Scope<'_>) -> Judged {
    let mut reasons = Vec::new();
    for part in parts {
        let judged = part.judge(scope);
        if judged.holds {
            return judged;
        }
        reasons.push(judged.because);
    }
    let because = if reasons.is_empty() { "there is no alternative".to_owned() } else { reasons.join("; ") };
    Judged { holds: false, because: cut(&because, LONGEST_BECAUSE) }
}

fn judge_var(path: &str, tests: &[Test], scope: &Scope<'_>) -> Judged {
    let found = scope.lookup(path);
    let value = found.value();
    let is = is(path, &found);
    if tests.is_empty() {
        let holds = value.is_some_and(is_truthy);
        let because = if holds { is } else { format!("{is}, wanted something truthy") };
        return Judged { holds, because };
    }
    for test in tests {
        if let Err(wanted) = judge_test(test, value, &scope.allowance) {
            return Judged { holds: false, because: format!("{is}, {wanted}") };
        }
    }
    Judged { holds: true, because: is }
}

fn is(path: &str, found: &Found<'_>) -> String {
    match found {
        Found::Value(value) => format!("{path} is {}", preview(value)),
        Found::Missing => format!("{path} is not set"),
        Found::WrongType { prefix, value } => {
            format!("{path} is not set ({prefix} is {} {})", type_name(value), preview(value))
        }
    }
}

/// `Err` holds what was wanted instead.
fn judge_test(test: &Test, value: Option<&Value>, allowance: &Allowance) -> Result<(), String> {
    let (holds, wanted) = match test {
        Test::Equals(wanted) => (equals(value, wanted), format!("wanted {}", preview(wanted))),
        Test::NotEquals(wanted) => {
            (!equals(value, wanted), format!("wanted anything but {}", preview(wanted)))
        }
        Test::Gt(limit) => (compare(value, limit, f64::gt), format!("wanted more than {}", preview(limit))),
        Test::Gte(limit) => (compare(value, limit, f64::ge), format!("wanted at least {}", preview(limit))),
        Test::Lt(limit) => (compare(value, limit, f64::lt), format!("wanted less than {}", preview(limit))),
        Test::Lte(limit) => (compare(value, limit, f64::le), format!("wanted at most {}", preview(limit))),
        Test::In(choices) => {
            (choices.iter().any(|choice| equals(value, choice)), format!("wanted one of {}", list(choices)))
        }
        Test::Contains(part) => (contains(value, part), format!("wanted it to contain {}", preview(part))),
        Test::StartsWith(part) => {
            (text(value).starts_with(&fold(part)), format!("wanted it to start with {}", quoted(part)))
        }
        Test::EndsWith(part) => {
            (text(value).ends_with(&fold(part)), format!("wanted it to end with {}", quoted(part)))
        }
        Test::Matches(pattern) => return matches(value, pattern, allowance),
    };
    if holds { Ok(()) } else { Err(wanted) }
}

fn matches(value: Option<&Value>, source: &str, allowance: &Allowance) -> Result<(), String> {
    let pattern =
        Pattern::new(source, "").map_err(|error| format!("but the pattern is not valid: {error}"))?;
    let text = value.map(plain).unwrap_or_default();
    match pattern.is_match_within(&text, allowance) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("wanted it to match `{}`", cut(source, 60))),
        Err(error) => Err(format!("did not hold: {error} (`{}`)", cut(source, 60))),
    }
}

/// As in JavaScript: no value, `false`, `0` and the empty text are not.
pub(crate) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Lenient: `" High"` is `"high"`, `"5"` is `5`, `"yes"` is `true`, and null is what is not there.
/// Whether a condition takes one value for the other.
pub(crate) fn equals(value: Option<&Value>, wanted: &Value) -> bool {
    match (value.unwrap_or(&Value::Null), wanted) {
        (Value::String(left), Value::String(right)) => fold(left) == fold(right),
        (Value::String(text), Value::Bool(truth)) | (Value::Bool(truth), Value::String(text)) => {
            truth_of(text) == Some(*truth)
        }
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            number_of(text) == number.as_f64()
        }
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (left, right) => left == right,
    }
}

/// Integers are compared as such: as floats, large neighbours would be the same.
fn same_number(left: &Number, right: &Number) -> bool {
    left == right || ((left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64())
}

fn truth_of(text: &str) -> Option<bool> {
    match fold(text).as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// Nothing but a finite decimal number counts: `inf` and `nan` are words.
fn number_of(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_decimal = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first))
        && !text.contains(|letter: char| letter.is_ascii_alphabetic() && !matches!(letter, 'e' | 'E'));
    if is_decimal { text.parse::<f64>().ok().filter(|number| number.is_finite()) } else { None }
}

fn compare(value: Option<&Value>, limit: &Value, holds: fn(&f64, &f64) -> bool) -> bool {
    match (value.and_then(as_number), as_number(limit)) {
        (Some(value), Some(limit)) => holds(&value, &limit),
        (None, _) | (_, None) => false,
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number_of(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// In the text form; of an array also in the text form of an item, where nothing is escaped.
fn contains(value: Option<&Value>, part: &Value) -> bool {
    let part = fold(&plain(part));
    let in_an_item = |items: &Vec<Value>| items.iter().any(|item| fold(&plain(item)).contains(&part));
    text(value).contains(&part) || value.and_then(Value::as_array).is_some_and(in_an_item)
}

fn text(value: Option<&Value>) -> String {
    value.map(|value| fold(&plain(value))).unwrap_or_default()
}

fn fold(text: &str) -> String {
    text.trim().to_lowercase()
}

fn list(choices: &[Value]) -> String {
    cut(&choices.iter().map(preview).collect::<Vec<_>>().join(", "), 120)
}

fn quoted(text: &str) -> String {
    preview(&Value::from(text))
}
