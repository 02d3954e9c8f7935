//! Single values as YAML writes them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::workflow::compile::Syntax;
use crate::workflow::document;

/// A single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar<'a> {
    Text(&'a str),
    Number(i64),
    Flag(bool),
    Nothing,
}

impl Scalar<'_> {
    /// On one line, in a way that means the same in a list or map with brackets. In quotes only where it must be.
    pub(super) fn written(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Nothing => "null".to_owned(),
            Self::Text(text) if is_plain(text) => text.to_owned(),
            Self::Text(text) => quoted(text),
        }
    }

    pub(super) fn json(self) -> Value {
        match self {
            Self::Number(number) => number.into(),
            Self::Flag(flag) => flag.into(),
            Self::Nothing => Value::Null,
            Self::Text(text) => text.into(),
        }
    }
}

/// Whether a text means itself without quotes, wherever it stands.
pub(super) fn is_plain(text: &str) -> bool {
    let is_tame = |letter: char| {
        !letter.is_control() && !"#:,[]{}&*!|>'\"%@`?\\".contains(letter) && letter != '\u{feff}'
    };
    // Colons are harmless inside of words, as in `github:owner`, but not worth a rule of their own.
    if text.trim() != text
        || text.is_empty()
        || text.starts_with(['-', '=', '~', '<'])
        || !text.chars().all(is_tame)
    {
        return false;
    }
    let read = document::parse_any(&format!("[{text}]"), Syntax::Yaml);
    read.is_ok_and(|root| root.is_some_and(|root| root.to_json() == Value::from(vec![text])))
}

/// Between double quotes, with what cannot stand there as it is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut written = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => written += "\\\"",
            '\\' => written += "\\\\",
            '\n' => written += "\\n",
            '\t' => written += "\\t",
            '\r' => written += "\\r",
            _ if letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                write!(written, "\\u{:04x}", u32::from(letter)).expect("a text takes any text");
            }
            _ => written.push(letter),
        }
    }
    written + "\""
}
