//! Templates: `{{path.to.var}}` in texts that agents read.
//!
//! A value is put in once and never looked at again, so nothing that an agent wrote into a var acts as a template.
//! What is not a template stays as it stands: authors write `{{` in examples too.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use super::scope::{Found, Scope, cut, plain, preview, type_name};

/// How much of a text is quoted where a template is not closed.
const MOST_SHOWN: usize = 40;

/// A path that a text asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplatePath {
    pub path: String,
    /// The bytes from `{{` to `}}`.
    pub span: Range<usize>,
    /// Whether the text says what stands there while it is not set.
    pub has_default: bool,
}

/// Something between `{{` and `}}` that will not be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateProblem {
    pub message: String,
    pub fix: String,
    pub span: Range<usize>,
}

/// Fills in what is set and says what is not.
pub fn render(text: &str, scope: &Scope<'_>) -> String {
    let mut rendered = String::with_capacity(text.len());
    let mut copied = 0;
    for place in places(text) {
        if let Ok(template) = &place.content {
            rendered.push_str(&text[copied..place.span.start]);
            rendered.push_str(&fill_if_it_fits(template, scope));
            copied = place.span.end;
        }
    }
    rendered.push_str(&text[copied..]);
    rendered
}

/// A value with its templates filled in. A text that is one `{{path}}` and nothing else is the value itself, with its
/// type; nothing where that is not set.
pub fn resolve(value: &Value, scope: &Scope<'_>) -> Value {
    match value {
        Value::String(text) => match places(text).as_slice() {
            [Place { span, content: Ok(Template { path, default: None, shape: Shape::Plain }) }]
                if *span == (0..text.len()) =>
            {
                scope.lookup(path).value().cloned().unwrap_or_default()
            }
            _ => Value::String(render(text, scope)),
        },
        Value::Array(items) => items.iter().map(|item| resolve(item, scope)).collect(),
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(name, entry)| (name.clone(), resolve(entry, scope))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Every path of the text, in its order.
pub fn paths(text: &str) -> Vec<TemplatePath> {
    let path = |place: Place<'_>| {
        let template = place.content.ok()?;
        Some(TemplatePath {
            path: template.path.to_owned(),
            span: place.span,
            has_default: template.default.is_some(),
        })
    };
    places(text).into_iter().filter_map(path).collect()
}

/// Every place that looks like a template and is none.
pub fn problems(text: &str) -> Vec<TemplateProblem> {
    let problem = |place: Place<'_>| {
        let Fault { message, fix } = place.content.err()?;
        Some(TemplateProblem { message, fix, span: place.span })
    };
    places(text).into_iter().filter_map(problem).collect()
}

struct Place<'a> {
    span: Range<usize>,
    content: Result<Template<'a>, Fault>,
}

struct Template<'a> {
    path: &'a str,
    default: Option<Value>,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    Plain,
    Json,
    List,
}

struct Fault {
    message: String,
    fix: String,
}

fn places(text: &str) -> Vec<Place<'_>> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|start| from + start) {
        let Some(length) = text[start..].find("}}") else {
            places.push(Place { span: start..start + 2, content: Err(unclosed(&text[start..])) });
            break;
        };
        // `{{{x}}` and `{{ {{x}}` have their template inside.
        let inner = text[start..start + length].rfind("{{").expect("it starts with these letters");
        if text[start..start + inner].contains(|letter: char| letter != '{' && !letter.is_whitespace()) {
            places.push(Place { span: start..start + 2, content: Err(unclosed(&text[start..])) });
        }
        let start = start + inner;
        let end = text[start..].find("}}").expect("it was found behind the same start") + start + 2;
        places.push(Place { span: start..end, content: parse(&text[start + 2..end - 2]) });
        from = end;
    }
    places
}

fn unclosed(from: &str) -> Fault {
    let shown = cut(from.lines().next().unwrap_or(from), MOST_SHOWN);
    Fault {
        message: format!("`{shown}` opens a template and does not close it, so it stays as it stands"),
        fix: "close it with `}}`".to_owned(),
    }
}

fn parse(content: &str) -> Result<Template<'_>, Fault> {
    let (path, mut rest) = content.split_once('|').map_or((content, None), |(path, rest)| (path, Some(rest)));
    let path = path.trim();
    if !is_path(path) {
        return Err(Fault {
            message: format!("`{{{{{content}}}}}` is not a path, so it stays as it stands"),
            fix: "write `{{name}}` or `{{name.part}}`; compute values in an earlier step and set a var"
                .to_owned(),
        });
    }
    let mut template = Template { path, default: None, shape: Shape::Plain };
    while let Some(filters) = rest {
        rest = apply_filter(filters.trim_start(), &mut template)?;
    }
    Ok(template)
}

/// Takes the first filter, and gives the text behind the next `|`.
fn apply_filter<'a>(filters: &'a str, template: &mut Template<'_>) -> Result<Option<&'a str>, Fault> {
    if let Some(argument) = filters.strip_prefix("default(") {
        let (default, rest) = take_argument(argument).ok_or_else(|| unknown_filter(filters))?;
        template.default = Some(default);
        return next_filter(rest);
    }
    let name_end = filters.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(filters.len());
    template.shape = match &filters[..name_end] {
        "json" => Shape::Json,
        "list" => Shape::List,
        _ => return Err(unknown_filter(filters)),
    };
    next_filter(&filters[name_end..])
}

fn next_filter(rest: &str) -> Result<Option<&str>, Fault> {
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(None);
    }
    rest.strip_prefix('|').map(Some).ok_or_else(|| unknown_filter(rest))
}

/// A quoted text, or everything up to the bracket. What reads as JSON is that value.
fn take_argument(argument: &str) -> Option<(Value, &str)> {
    let argument = argument.trim_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = argument.strip_prefix(quote) {
            let (text, rest) = quoted.split_once(quote)?;
            return Some((Value::from(text), rest.trim_start().strip_prefix(')')?));
        }
    }
    let (bare, rest) = argument.split_once(')')?;
    let bare = bare.trim();
    Some((serde_json::from_str(bare).unwrap_or_else(|_| Value::from(bare)), rest))
}

fn unknown_filter(filters: &str) -> Fault {
    Fault {
        message: format!("`| {}` is not a filter, so the template stays as it stands", filters.trim()),
        fix: "use `| json`, `| list` or `| default(text)`".to_owned(),
    }
}

fn is_path(path: &str) -> bool {
    let is_segment = |segment: &str| {
        !segment.is_empty()
            && segment.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '-'))
    };
    let begins_well = path.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '$'));
    begins_well && path.split('.').all(is_segment)
}

fn fill_if_it_fits(template: &Template<'_>, scope: &Scope<'_>) -> String {
    let filled = fill(template, scope);
    if scope.allowance.takes(filled.len()) {
        filled
    } else {
        format!("[left out: {} -- the text is too long]", template.path)
    }
}

fn fill(template: &Template<'_>, scope: &Scope<'_>) -> String {
    let value = match (scope.lookup(template.path), &template.default) {
        (Found::Value(value), _) => value,
        (Found::Missing | Found::WrongType { .. }, Some(default)) => Cow::Borrowed(default),
        (Found::Missing, None) => return format!("[unset: {}]", template.path),
        (Found::WrongType { prefix, value }, None) => {
            let (path, kind, shown) = (template.path, type_name(value), preview(value));
            return format!("[unset: {path} -- '{prefix}' is {kind} ({shown}), not object]");
        }
    };
    match template.shape {
        Shape::Plain => plain(&value).into_owned(),
        Shape::Json => value.to_string(),
        Shape::List => list(&value),
    }
}

fn list(value: &Value) -> String {
    let lines: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| format!("- {}", plain(item))).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| format!("- {name}: {}", plain(field))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            vec![format!("- {}", plain(value))]
        }
    };
    if lines.is_empty() { "(none)".to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests;
