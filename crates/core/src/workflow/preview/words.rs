//! Conditions, lengths of time and lists as a person would say them. Whole: whoever shows them cuts.

use serde_json::Value;

use crate::workflow::condition::{Condition, Test};
use crate::workflow::pin::shell_words;
use crate::workflow::step::{CheckChoice, Run, RunOn, RunWhat};
use crate::workflow::{VarType, step::Channel};

/// A condition in words, fit to stand after "if".
pub fn condition(condition: &Condition) -> String {
    say(condition, Around::Nothing)
}

/// What a part stands in: decides whether it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    And,
    Or,
    Not,
}

fn say(condition: &Condition, around: Around) -> String {
    match condition {
        Condition::All(parts) => joined(parts, Around::And, around),
        Condition::Any(parts) => joined(parts, Around::Or, around),
        Condition::Not(part) => denied(part, around),
        Condition::Var { path, tests } => {
            let said = var(path, tests);
            let doubtful = tests.len() > 1 && matches!(around, Around::Or | Around::Not);
            if doubtful { format!("({said})") } else { said }
        }
    }
}

fn joined(parts: &[Condition], inside: Around, around: Around) -> String {
    match parts {
        [] if inside == Around::And => "always".to_owned(),
        [] => "never".to_owned(),
        [only] => say(only, around),
        _ => {
            let word = if inside == Around::And { " and " } else { " or " };
            let said = parts.iter().map(|part| say(part, inside)).collect::<Vec<_>>().join(word);
            let plain = around == Around::Nothing || around == inside;
            if plain { said } else { format!("({said})") }
        }
    }
}

fn denied(part: &Condition, around: Around) -> String {
    match part {
        Condition::Var { path, tests } if tests.is_empty() => format!("{} is not truthy", name(path)),
        Condition::Var { path, tests } if tests.len() == 1 => {
            format!("{} {}", name(path), test_denied(&tests[0]))
        }
        Condition::All(parts) if parts.is_empty() => "never".to_owned(),
        Condition::Any(parts) if parts.is_empty() => "always".to_owned(),
        Condition::All(parts) | Condition::Any(parts) if parts.len() == 1 => denied(&parts[0], around),
        Condition::Not(twice) => say(twice, around),
        Condition::All(_) | Condition::Any(_) | Condition::Var { .. } => {
            format!("not {}", say(part, Around::Not))
        }
    }
}

fn var(path: &str, tests: &[Test]) -> String {
    if tests.is_empty() {
        return format!("{} is truthy", name(path));
    }
    let said: Vec<String> = tests.iter().map(test).collect();
    format!("{} {}", name(path), said.join(" and "))
}

fn name(path: &str) -> String {
    match path.strip_suffix(".length") {
        Some(list) if !list.is_empty() => format!("the length of {list}"),
        Some(_) | None => path.to_owned(),
    }
}

fn test(test: &Test) -> String {
    match test {
        Test::Equals(value) => format!("is {value}"),
        Test::NotEquals(value) => format!("is not {value}"),
        Test::Gt(value) => format!("is more than {value}"),
        Test::Gte(value) => format!("is at least {value}"),
        Test::Lt(value) => format!("is less than {value}"),
        Test::Lte(value) => format!("is at most {value}"),
        Test::In(values) => format!("is {}", one_of(values)),
        Test::Contains(value) => format!("contains {value}"),
        Test::StartsWith(text) => format!("starts with {}", quoted(text)),
        Test::EndsWith(text) => format!("ends with {}", quoted(text)),
        Test::Matches(pattern) => format!("matches /{pattern}/"),
    }
}

fn test_denied(denied: &Test) -> String {
    match denied {
        Test::NotEquals(value) => format!("is {value}"),
        Test::Equals(_) | Test::Gt(_) | Test::Gte(_) | Test::Lt(_) | Test::Lte(_) | Test::In(_) => {
            test(denied).replacen("is ", "is not ", 1)
        }
        Test::Contains(value) => format!("does not contain {value}"),
        Test::StartsWith(text) => format!("does not start with {}", quoted(text)),
        Test::EndsWith(text) => format!("does not end with {}", quoted(text)),
        Test::Matches(pattern) => format!("does not match /{pattern}/"),
    }
}

pub(super) fn one_of(values: &[Value]) -> String {
    match values {
        [] => "one of nothing".to_owned(),
        [only] => only.to_string(),
        _ => format!("one of {}", values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
    }
}

pub(super) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// `3 days`, `90 seconds`: in the largest unit that tells it exactly.
pub(super) fn duration(milliseconds: u64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")];
    let exact =
        UNITS.into_iter().find(|(unit, _)| milliseconds >= *unit && milliseconds.is_multiple_of(*unit));
    let (unit, word) = exact.unwrap_or((1, "millisecond"));
    counted(milliseconds / unit, word)
}

/// `1 time`, `3 times`.
pub(super) fn counted(count: u64, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// What a `run` starts.
pub(super) fn run(run: &Run) -> String {
    let what = match &run.what {
        RunWhat::Command(words) => format!("`{}`", shell_words(words)),
        RunWhat::Checks(CheckChoice::All) => "every check of the workspace".to_owned(),
        RunWhat::Checks(CheckChoice::Named(names)) => format!("the checks {}", names.join(", ")),
        RunWhat::Declared(checks) => {
            let names: Vec<&str> = checks.iter().map(|check| &*check.name).collect();
            format!("the checks {}", names.join(", "))
        }
    };
    match run.on {
        RunOn::Checkout => what,
        RunOn::Merge => format!("{what}, on the result of a merge into the newest base"),
    }
}

/// The weakest channel, as what may be used at all.
pub(super) fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Client => "also through the agent's own client",
        Channel::Terminal => "at a terminal or stronger",
        Channel::Console => "in the console or stronger",
        Channel::Forge => "on the forge",
    }
}

pub(super) fn var_type(kind: &VarType) -> String {
    match kind {
        VarType::Any => "anything".to_owned(),
        VarType::String => "a text".to_owned(),
        VarType::Number => "a number".to_owned(),
        VarType::Integer => "a whole number".to_owned(),
        VarType::Boolean => "true or false".to_owned(),
        VarType::Array => "a list".to_owned(),
        VarType::Object => "an object".to_owned(),
        VarType::Enum(values) => one_of(values),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn var_is(path: &str, tests: Vec<Test>) -> Condition {
        Condition::Var { path: path.to_owned(), tests }
    }

    fn risk_high() -> Condition {
        var_is("risk", vec![Test::Equals(json!("high"))])
    }

    fn small() -> Condition {
        var_is("size", vec![Test::Lt(json!(3))])
    }

    #[test]
    fn comparisons_read_as_sentences() {
        let said = |path: &str, test: Test| condition(&var_is(path, vec![test]));
        assert_eq!(condition(&risk_high()), r#"risk is "high""#);
        assert_eq!(said("a", Test::NotEquals(json!(true))), "a is not true");
        assert_eq!(said("found.length", Test::Gte(json!(2))), "the length of found is at least 2");
        assert_eq!(said("a", Test::In(vec![json!("x"), json!("y")])), r#"a is one of "x", "y""#);
        assert_eq!(said("a", Test::Matches("^v\\d".to_owned())), "a matches /^v\\d/");
        assert_eq!(condition(&var_is("ready", vec![])), "ready is truthy");
        let between = var_is("n", vec![Test::Gt(json!(1)), Test::Lte(json!(9))]);
        assert_eq!(condition(&between), "n is more than 1 and is at most 9");
    }

    #[test]
    fn what_is_denied_is_said_in_the_verb_where_it_can_be() {
        let not = |inner: Condition| condition(&Condition::Not(Box::new(inner)));
        assert_eq!(not(risk_high()), r#"risk is not "high""#);
        assert_eq!(not(small()), "size is not less than 3");
        assert_eq!(not(var_is("a", vec![Test::NotEquals(json!(1))])), "a is 1");
        assert_eq!(not(var_is("a", vec![Test::Contains(json!("x"))])), r#"a does not contain "x""#);
        assert_eq!(not(var_is("a", vec![])), "a is not truthy");
        assert_eq!(not(Condition::Not(Box::new(small()))), "size is less than 3");
        assert_eq!(not(Condition::Any(vec![])), "always");
        assert_eq!(not(Condition::All(vec![small()])), "size is not less than 3");
        assert_eq!(
            not(Condition::All(vec![risk_high(), small()])),
            r#"not (risk is "high" and size is less than 3)"#
        );
        assert_eq!(
            not(var_is("n", vec![Test::Gt(json!(1)), Test::Lt(json!(9))])),
            "not (n is more than 1 and is less than 9)"
        );
    }

    #[test]
    fn parentheses_stand_only_where_the_meaning_needs_them() {
        let either = Condition::Any(vec![risk_high(), small()]);
        let mixed = Condition::All(vec![either.clone(), var_is("go", vec![])]);
        assert_eq!(condition(&mixed), r#"(risk is "high" or size is less than 3) and go is truthy"#);
        let nested = Condition::Any(vec![either, var_is("go", vec![])]);
        assert_eq!(condition(&nested), r#"risk is "high" or size is less than 3 or go is truthy"#);
        assert_eq!(condition(&Condition::Any(vec![risk_high()])), r#"risk is "high""#);
    }

    #[test]
    fn empty_groups_say_what_they_come_to() {
        assert_eq!(condition(&Condition::All(vec![])), "always");
        assert_eq!(condition(&Condition::Any(vec![])), "never");
    }

    #[test]
    fn durations_use_the_largest_exact_unit() {
        assert_eq!(duration(3 * 86_400_000), "3 days");
        assert_eq!(duration(90_000), "90 seconds");
        assert_eq!(duration(60_000), "1 minute");
        assert_eq!(duration(1500), "1500 milliseconds");
        assert_eq!(duration(0), "0 milliseconds");
    }
}
