//! Paths into a JSON value: `$.issue.labels[0]['odd key']`. A path leads to one value or to none.

use std::fmt;

use serde_json::Value;

/// No path that a person writes is longer.
const LONGEST: usize = 500;
const MOST_STEPS: usize = 32;

/// A path whose form is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// A text that is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no path: {problem}")]
pub struct BadPath {
    pub text: String,
    pub problem: &'static str,
}

impl BadPath {
    /// What to do about it.
    pub const FIX: &'static str =
        "begin with `$` and go on with `.name`, `[0]` or `['odd key']`, as in `$.issue.labels[0].name`";
}

impl JsonPath {
    pub fn parse(text: &str) -> Result<Self, BadPath> {
        let text = text.trim();
        let bad = |problem| BadPath { text: text.chars().take(80).collect(), problem };
        if text.len() > LONGEST {
            return Err(bad("it is too long"));
        }
        let mut rest = text.strip_prefix('$').ok_or_else(|| bad("it does not begin with `$`"))?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest).map_err(bad)?;
            steps.push(step);
            rest = after;
            if steps.len() > MOST_STEPS {
                return Err(bad("it goes too deep"));
            }
        }
        Ok(Self { text: text.to_owned(), steps })
    }

    /// What it leads to.
    pub fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.as_object()?.get(key),
            Step::Index(index) => value.as_array()?.get(*index),
        })
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The first step of a text, and what comes after it.
fn step(text: &str) -> Result<(Step, &str), &'static str> {
    if let Some(rest) = text.strip_prefix('.') {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
        let end = rest.find(|letter: char| !is_part(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        return match name {
            "" if rest.starts_with('.') => Err("`..` would lead to many values"),
            "" => Err("a name is missing after a dot"),
            _ => Ok((Step::Key(name.to_owned()), after)),
        };
    }
    let rest = text.strip_prefix('[').ok_or("after a name comes `.` or `[`")?;
    match rest.chars().next() {
        Some(quote @ ('\'' | '"')) => quoted(&rest[1..], quote),
        Some(digit) if digit.is_ascii_digit() => {
            let (digits, after) = rest.split_once(']').ok_or("a `]` is missing")?;
            let index =
                digits.parse().map_err(|_| "between `[` and `]` stands a number or a text in quotes")?;
            Ok((Step::Index(index), after))
        }
        _ => Err("between `[` and `]` stands a number or a text in quotes"),
    }
}

/// What stands before the closing quote and bracket; a backslash takes the next character as it is.
fn quoted(text: &str, quote: char) -> Result<(Step, &str), &'static str> {
    let mut key = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => key.extend(letters.next().map(|(_, letter)| letter)),
            _ if letter == quote => {
                let after = text[at + quote.len_utf8()..].strip_prefix(']').ok_or("a `]` is missing")?;
                return Ok((Step::Key(key), after));
            }
            _ => key.push(letter),
        }
    }
    Err("a closing quote is missing")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_to_a_value_or_to_none() {
        let value = json!({"a": {"b": [{"c-d": 1}, 2]}, "odd key": {"it's": true}, "ü": 3, "": 4});
        for (path, found) in [
            ("$", Some(value.clone())),
            ("$.a.b[1]", Some(json!(2))),
            ("$.a.b[0].c-d", Some(json!(1))),
            ("$['odd key']['it\\'s']", Some(json!(true))),
            ("$[\"odd key\"][\"it's\"]", Some(json!(true))),
            ("$.ü", Some(json!(3))),
            ("$['']", Some(json!(4))),
            ("$.a.b[2]", None),
            ("$.a.b.c", None),
            ("$.a[0]", None),
            ("$.a.b[18446744073709551615]", None),
        ] {
            assert_eq!(JsonPath::parse(path).unwrap().find(&value), found.as_ref(), "{path}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let long = format!("${}", ".a".repeat(300));
        let deep = format!("${}", ".a".repeat(33));
        for (text, problem) in [
            ("", "it does not begin with `$`"),
            ("issue.title", "it does not begin with `$`"),
            ("$.", "a name is missing after a dot"),
            ("$..a", "`..` would lead to many values"),
            ("$a", "after a name comes `.` or `[`"),
            ("$[", "between `[` and `]` stands a number or a text in quotes"),
            ("$[*]", "between `[` and `]` stands a number or a text in quotes"),
            ("$[-1]", "between `[` and `]` stands a number or a text in quotes"),
            ("$[99999999999999999999]", "between `[` and `]` stands a number or a text in quotes"),
            ("$[1", "a `]` is missing"),
            ("$['a", "a closing quote is missing"),
            ("$['a'", "a `]` is missing"),
            (&long, "it is too long"),
            (&deep, "it goes too deep"),
        ] {
            assert_eq!(JsonPath::parse(text).unwrap_err().problem, problem, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,30}|\\$[.\\[\\]'\"\\\\a0 ]{0,20}") {
            if let Ok(path) = JsonPath::parse(&text) {
                let _ = path.find(&json!({"a": [{"a": 0}]}));
                prop_assert_eq!(JsonPath::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
