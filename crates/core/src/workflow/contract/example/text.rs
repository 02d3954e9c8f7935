//! Texts: by format, by pattern, by length.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value};

use super::count;

/// Longer texts than this are the author's to write.
const MOST_CHARACTERS: usize = 4096;
/// How many more times than it must each repetition of a pattern is tried.
const REPEATS: &[usize] = &[0, 1, 2, 3, 7, 15, 31, 63];

const FORMATS: &[(&str, &str)] = &[
    ("date-time", "2026-01-31T12:00:00Z"),
    ("date", "2026-01-31"),
    ("time", "12:00:00Z"),
    ("duration", "P1D"),
    ("email", "someone@example.org"),
    ("idn-email", "someone@example.org"),
    ("hostname", "example.org"),
    ("idn-hostname", "example.org"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.org/page"),
    ("uri-reference", "page"),
    ("iri", "https://example.org/page"),
    ("iri-reference", "page"),
    ("uri-template", "https://example.org/{page}"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
    ("json-pointer", "/key"),
    ("relative-json-pointer", "1/key"),
    ("regex", "^[a-z]+$"),
];

pub(super) fn guesses(schema: &Map<String, Value>) -> Vec<String> {
    let least = count(schema, "minLength").unwrap_or(0);
    let most = count(schema, "maxLength").unwrap_or(MOST_CHARACTERS);
    if least > MOST_CHARACTERS || least > most {
        return Vec::new();
    }
    let mut guesses = Vec::new();
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        let matching = of_pattern(pattern);
        // A pattern that does not say where the text ends allows anything after it.
        guesses.extend(matching.iter().cloned().chain(matching.iter().map(|text| padded(text, least))));
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str) {
        guesses
            .extend(FORMATS.iter().filter(|(name, _)| *name == format).map(|(_, text)| (*text).to_owned()));
    }
    guesses.push(plain(least, most));
    guesses.retain(|text| (least..=most).contains(&text.chars().count()));
    guesses
}

fn padded(text: &str, length: usize) -> String {
    let missing = length.saturating_sub(text.chars().count());
    text.chars().chain(std::iter::repeat_n('x', missing)).collect()
}

fn plain(least: usize, most: usize) -> String {
    let mut text: String = "text ".chars().cycle().take(most.min(least.max(4))).collect();
    if text.ends_with(' ') {
        text.pop();
        text.push('.');
    }
    text
}

/// Texts that the pattern matches, as far as it can be read. The judge reads patterns a little differently.
fn of_pattern(pattern: &str) -> Vec<String> {
    let Ok(parsed) = regex_syntax::Parser::new().parse(pattern) else {
        return Vec::new();
    };
    let mut texts = Vec::new();
    for repeats in REPEATS {
        let mut text = String::new();
        if write(&parsed, *repeats, &mut text).is_some() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn write(part: &Hir, repeats: usize, text: &mut String) -> Option<()> {
    if text.len() > MOST_CHARACTERS {
        return None;
    }
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(character(class)?),
        HirKind::Capture(capture) => write(&capture.sub, repeats, text)?,
        HirKind::Concat(parts) => {
            for part in parts {
                write(part, repeats, text)?;
            }
        }
        HirKind::Alternation(parts) => write(parts.get(repeats % parts.len())?, repeats, text)?,
        HirKind::Repetition(repetition) => {
            let least = usize::try_from(repetition.min).ok()?;
            let most = repetition.max.map_or(usize::MAX, |max| usize::try_from(max).unwrap_or(usize::MAX));
            for _ in 0..least.saturating_add(repeats).min(most) {
                write(&repetition.sub, repeats, text)?;
            }
        }
    }
    Some(())
}

/// A character of the class that people can read, if there is one.
fn character(class: &Class) -> Option<char> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let has = |wanted: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&wanted));
    let readable = ('a'..='z').chain('1'..='9').chain('A'..='Z').chain(['0', '-', '_', '.', ' ']);
    readable.into_iter().find(|wanted| has(*wanted)).or_else(|| ranges.first().map(|(start, _)| *start))
}
