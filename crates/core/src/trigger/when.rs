//! Conditions over what a request brings: which of them are wanted.
//!
//! Values are compared as they are. Elsewhere we are lenient with what an agent writes; here the other side is a program,
//! and what fits by chance would begin a task.

use serde_json::Value;

use super::judge::{Line, Shown};
use super::path::{BadPath, JsonPath};
use super::text::{cut, harmless};
use crate::workflow::allowance::Allowance;
use crate::workflow::document::Node;
use crate::workflow::fields::{Fields, Findings, text_of};
use crate::workflow::pattern::Pattern;

/// More of a value is not shown.
const LONGEST_SHOWN: usize = 80;

/// Which requests are wanted.
#[derive(Debug, Clone, PartialEq)]
pub enum When {
    All(Vec<When>),
    Any(Vec<When>),
    Not(Box<When>),
    /// Every test holds for what the path leads to.
    Path {
        path: JsonPath,
        tests: Vec<Test>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Equals(Value),
    In(Vec<Value>),
    /// There is a value, and it is not nothing.
    Exists,
    Missing,
    /// An ECMAScript pattern, judged within a limit of steps.
    Matches(String),
}

/// How a condition came out: what it says about each of its parts, and in a few words why.
pub(super) struct Verdict {
    pub(super) holds: bool,
    pub(super) because: String,
    pub(super) lines: Vec<Line>,
}

impl When {
    pub(super) fn read(node: &Node, findings: &Findings) -> Option<Self> {
        let mut fields = Fields::of(node, "a condition", findings)?;
        let forms: Vec<&str> =
            ["all", "any", "not", "path"].into_iter().filter(|form| fields.has(form)).collect();
        let read = match forms[..] {
            ["all"] => parts(&mut fields, "all").map(Self::All),
            ["any"] => parts(&mut fields, "any").map(Self::Any),
            ["not"] => fields
                .node("not")
                .and_then(|node| Self::read(node, findings))
                .map(|part| Self::Not(part.into())),
            ["path"] => leaf(&mut fields),
            _ => {
                let message = "a condition has exactly one of `all`, `any`, `not` and `path`";
                findings.error(&node.span, message, "write one, as in `{ path: $.action, equals: labeled }`");
                fields.know(&["equals", "in", "exists", "matches"]);
                None
            }
        };
        fields.finish();
        read
    }

    pub(super) fn judge(&self, payload: &Value) -> Verdict {
        self.look(payload, 0, &Allowance::default())
    }

    fn look(&self, payload: &Value, depth: usize, allowance: &Allowance) -> Verdict {
        match self {
            Self::All(parts) => several(parts, payload, depth, allowance, Several::All),
            Self::Any(parts) => several(parts, payload, depth, allowance, Several::Any),
            Self::Not(part) => {
                let inner = part.look(payload, depth + 1, allowance);
                let holds = !inner.holds;
                let line = Line { depth, what: "not".to_owned(), value: None, shown: Shown::of(holds) };
                let because = format!("what must not hold does: {}", inner.because);
                Verdict { holds, because, lines: [vec![line], inner.lines].concat() }
            }
            Self::Path { path, tests } => {
                let value = path.find(payload);
                let failed = tests.iter().find(|test| !test.holds(value, allowance));
                let wanted: Vec<String> = tests.iter().map(Test::wanted).collect();
                let line = Line {
                    depth,
                    what: format!("{path} {}", wanted.join(" and ")),
                    value: Some(shown(value)),
                    shown: Shown::of(failed.is_none()),
                };
                let because = match failed {
                    Some(test) => format!("`{path}` is {}, and it must {}", shown(value), test.must()),
                    None => format!("`{path}` is {}", shown(value)),
                };
                Verdict { holds: failed.is_none(), because, lines: vec![line] }
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Several {
    All,
    Any,
}

fn several(parts: &[When], payload: &Value, depth: usize, allowance: &Allowance, how: Several) -> Verdict {
    // All are looked at, also where the first decides: whoever tries a trigger wants to see them.
    let verdicts: Vec<Verdict> = parts.iter().map(|part| part.look(payload, depth + 1, allowance)).collect();
    let (holds, what) = match how {
        Several::All => (verdicts.iter().all(|verdict| verdict.holds), "all of"),
        Several::Any => (verdicts.iter().any(|verdict| verdict.holds), "any of"),
    };
    let deciding = verdicts.iter().find(|verdict| verdict.holds == holds);
    let because = deciding.map(|verdict| verdict.because.clone()).unwrap_or_default();
    let because = match how {
        Several::Any if !holds => format!("nothing of several holds; the first: {because}"),
        Several::All | Several::Any => because,
    };
    let mut lines = vec![Line { depth, what: what.to_owned(), value: None, shown: Shown::of(holds) }];
    lines.extend(verdicts.into_iter().flat_map(|verdict| verdict.lines));
    Verdict { holds, because, lines }
}

impl Test {
    fn holds(&self, value: Option<&Value>, allowance: &Allowance) -> bool {
        match self {
            Self::Equals(wanted) => value.is_some_and(|value| is_same(value, wanted)),
            Self::In(wanted) => value.is_some_and(|value| wanted.iter().any(|wanted| is_same(value, wanted))),
            Self::Exists => value.is_some_and(|value| !value.is_null()),
            Self::Missing => value.is_none_or(Value::is_null),
            Self::Matches(pattern) => value.is_some_and(|value| matches(value, pattern, allowance)),
        }
    }

    /// After a path: `= "labeled"`.
    fn wanted(&self) -> String {
        match self {
            Self::Equals(wanted) => format!("= {}", shown(Some(wanted))),
            Self::In(wanted) => format!("in {}", list(wanted)),
            Self::Exists => "exists".to_owned(),
            Self::Missing => "does not exist".to_owned(),
            Self::Matches(pattern) => format!("matches `{}`", cut(pattern.clone(), LONGEST_SHOWN)),
        }
    }

    /// After "it must".
    fn must(&self) -> String {
        match self {
            Self::Equals(wanted) => format!("be {}", shown(Some(wanted))),
            Self::In(wanted) => format!("be one of {}", list(wanted)),
            Self::Exists => "be there".to_owned(),
            Self::Missing => "not be there".to_owned(),
            Self::Matches(pattern) => format!("match `{}`", cut(pattern.clone(), LONGEST_SHOWN)),
        }
    }
}

/// As they are; only `1` and `1.0` are written in two ways.
fn is_same(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Number(value), Value::Number(wanted)) if value.is_f64() || wanted.is_f64() => {
            value.as_f64() == wanted.as_f64()
        }
        (value, wanted) => value == wanted,
    }
}

/// A pattern that takes too long does not match.
fn matches(value: &Value, pattern: &str, allowance: &Allowance) -> bool {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return false,
    };
    let pattern = Pattern::new(pattern, "").ok();
    pattern.is_some_and(|pattern| pattern.is_match_within(&text, allowance) == Ok(true))
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "missing".to_owned(), |value| cut(harmless(&value.to_string()), LONGEST_SHOWN))
}

fn list(values: &[Value]) -> String {
    cut(values.iter().map(|value| shown(Some(value))).collect::<Vec<_>>().join(", "), 2 * LONGEST_SHOWN)
}

fn parts(fields: &mut Fields<'_>, key: &'static str) -> Option<Vec<When>> {
    let (nodes, findings) = (fields.list(key), fields.findings());
    if let (true, Some(node)) = (nodes.is_empty(), fields.raw(key)) {
        findings.error(&node.span, format!("`{key}` has no conditions"), "list some, or take it out");
    }
    // A part that could not be read must not be left out of what decides.
    let parts: Vec<Option<When>> = nodes.iter().map(|node| When::read(node, findings)).collect();
    parts.into_iter().collect()
}

fn leaf(fields: &mut Fields<'_>) -> Option<When> {
    let findings = fields.findings();
    let path = fields.node("path").and_then(|node| path_of(node, findings));
    let mut tests = Vec::new();
    tests.extend(fields.raw("equals").map(Node::to_json).map(Test::Equals));
    if fields.has("in") {
        tests.push(Test::In(fields.list("in").iter().map(Node::to_json).collect()));
    }
    tests.extend(fields.flag("exists").map(|exists| if exists { Test::Exists } else { Test::Missing }));
    if let Some(pattern) = fields.text("matches") {
        if let (Err(problem), Some(node)) = (Pattern::new(&pattern, ""), fields.raw("matches")) {
            let message = format!("`matches` is not a pattern: {problem}");
            findings.error(
                &node.span,
                message,
                "write it as in JavaScript, without slashes; in YAML use single quotes",
            );
        }
        tests.push(Test::Matches(pattern));
    }
    if tests.is_empty() {
        let message = "a condition on a path says nothing about its value";
        findings.error(fields.span(), message, "add `equals`, `in`, `exists` or `matches`");
    }
    Some(When::Path { path: path?, tests })
}

fn path_of(node: &Node, findings: &Findings) -> Option<JsonPath> {
    let text = text_of(node, "`path`", findings)?;
    JsonPath::parse(&text).map_err(|error| findings.error(&node.span, error.to_string(), BadPath::FIX)).ok()
}
