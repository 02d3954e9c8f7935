//! Texts with values from a request in them: `{{$.issue.title}}`.
//!
//! A value is put in as text, cut to a length, without what could hide or move anything on a screen. It is never read
//! again as a template, a path or a command. What comes out is tainted: somebody outside wrote part of it.

use serde_json::Value;

use super::path::{BadPath, JsonPath};

/// More of one value is not put in.
const LONGEST_VALUE: usize = 8_000;
/// No goal or source is longer, in characters.
const LONGEST_TEXT: usize = 20_000;
/// Stands for a character that is not shown.
const HIDDEN: char = '\u{fffd}';

/// A text with places for values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTemplate {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(JsonPath),
}

/// A text that is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    #[error("`{{{{` is not closed")]
    Open,
    #[error(transparent)]
    Path(#[from] BadPath),
    #[error("it has {letters} characters, and {LONGEST_TEXT} is the most")]
    TooLong { letters: usize },
}

impl BadText {
    /// What to do about it.
    pub fn fix(&self) -> String {
        match self {
            Self::Open => "close it with `}}`, as in `{{$.issue.title}}`".to_owned(),
            Self::Path(_) => BadPath::FIX.to_owned(),
            Self::TooLong { .. } => "make it shorter".to_owned(),
        }
    }
}

/// What goes where a value is nothing, or a list or an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Nothing becomes no text; lists and objects become JSON.
    Any,
    /// Only what is one text or number: it names something.
    Names,
}

impl TextTemplate {
    pub fn parse(text: &str) -> Result<Self, BadText> {
        let letters = text.chars().count();
        if letters > LONGEST_TEXT {
            return Err(BadText::TooLong { letters });
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inner, after) = after.split_once("}}").ok_or(BadText::Open)?;
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Value(JsonPath::parse(inner)?));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Ok(Self { parts })
    }

    pub fn paths(&self) -> impl Iterator<Item = &JsonPath> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(path) => Some(path),
            Part::Text(_) => None,
        })
    }

    /// What stands before the first value.
    pub(super) fn beginning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            Some(Part::Value(_)) | None => "",
        }
    }

    /// The text without any values, if it needs none.
    pub fn fixed(&self) -> Option<String> {
        self.paths().next().is_none().then(|| self.beginning().to_owned())
    }

    /// The text with the values of a request in it, or the first path that leads to nothing that can be put in.
    pub(super) fn fill(&self, payload: &Value, values: Values) -> Result<String, &JsonPath> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled += text,
                Part::Value(path) => {
                    filled += &path.find(payload).and_then(|value| inserted(value, values)).ok_or(path)?;
                }
            }
        }
        Ok(cut(filled, LONGEST_TEXT))
    }
}

fn inserted(value: &Value, values: Values) -> Option<String> {
    let text = match (value, values) {
        (Value::Null, Values::Any) => String::new(),
        (Value::String(text), _) => harmless(text),
        (Value::Number(_) | Value::Bool(_), _) | (Value::Array(_) | Value::Object(_), Values::Any) => {
            harmless(&value.to_string())
        }
        (Value::Null | Value::Array(_) | Value::Object(_), Values::Names) => return None,
    };
    Some(cut(text, LONGEST_VALUE))
}

/// The text without what a terminal obeys and what makes text look other than it is. Lines stay lines.
pub(super) fn harmless(text: &str) -> String {
    let show = |letter: char| match letter {
        '\n' => '\n',
        '\t' => ' ',
        _ if is_hidden(letter) => HIDDEN,
        _ => letter,
    };
    text.replace("\r\n", "\n").chars().map(show).collect()
}

/// Control characters, and marks that turn the direction of text or take no room.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}')
}

pub(super) fn cut(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn filled(template: &str, values: Values) -> Result<String, String> {
        let payload =
            json!({"t": "Fix\u{1b}[2J it\r\nnow\u{202e}", "n": 7, "no": null, "l": ["{{$.n}}"], "yes": true});
        let template = TextTemplate::parse(template).unwrap();
        template.fill(&payload, values).map_err(ToString::to_string)
    }

    #[test]
    fn values_are_put_in_as_text_and_not_read_again() {
        assert_eq!(filled("a {{ $.n }}{{$.yes}} b", Values::Any).unwrap(), "a 7true b");
        assert_eq!(filled("{{$.t}}", Values::Any).unwrap(), "Fix\u{fffd}[2J it\nnow\u{fffd}");
        assert_eq!(filled("{{$.l}}!", Values::Any).unwrap(), "[\"{{$.n}}\"]!");
        assert_eq!(filled("{{$.l[0]}}", Values::Any).unwrap(), "{{$.n}}");
    }

    #[test]
    fn what_is_missing_is_said_and_a_name_takes_no_nothing_and_no_list() {
        assert_eq!(filled("x{{$.no}}", Values::Any).unwrap(), "x");
        assert_eq!(filled("x{{$.none}}", Values::Any), Err("$.none".to_owned()));
        assert_eq!(filled("x{{$.no}}", Values::Names), Err("$.no".to_owned()));
        assert_eq!(filled("x{{$.l}}", Values::Names), Err("$.l".to_owned()));
    }

    #[test]
    fn long_values_are_cut() {
        let template = TextTemplate::parse("{{$.a}}{{$.a}}{{$.a}}").unwrap();
        let text = template.fill(&json!({"a": "ü".repeat(9000)}), Values::Any).unwrap();
        assert_eq!(text.chars().count(), LONGEST_TEXT + 1);
        assert_eq!(text.chars().nth(LONGEST_VALUE), Some('…'));
    }

    #[test]
    fn what_is_no_template_is_refused() {
        assert_eq!(TextTemplate::parse("a {{ b"), Err(BadText::Open));
        assert!(matches!(TextTemplate::parse("a {{ b }}"), Err(BadText::Path(_))));
        assert!(matches!(
            TextTemplate::parse(&"a".repeat(20_001)),
            Err(BadText::TooLong { letters: 20_001 })
        ));
        assert_eq!(TextTemplate::parse("a } b").unwrap().fixed(), Some("a } b".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_and_nothing_hidden_comes_out(text in "\\PC{0,20}|[{}$.a ]{0,20}", value: String) {
            if let Ok(template) = TextTemplate::parse(&text)
                && let Ok(filled) = template.fill(&json!({"a": value}), Values::Any)
                && template.paths().next().is_some()
            {
                let told: String = filled.chars().filter(|letter| *letter != '\n').collect();
                let own: String = text.chars().filter(|letter| is_hidden(*letter)).collect();
                prop_assert!(own.len() >= told.chars().filter(|letter| is_hidden(*letter)).count());
            }
        }
    }
}
