//! Changes to a YAML text that leave every other byte as it is: comments, spacing, order, quotes.
//!
//! A change is one [`Edit`]: a range of the text, and what stands there instead. It is found by the places that the
//! parser gives, and before anybody gets it, the changed text is read again: it must hold exactly the old values with
//! the one change, or the edit is refused. So a text that we do not understand well enough is never spoilt, only left
//! alone. Why no crate does this for us: `docs/decisions/0025-triggers.md`.

mod append;
mod place;
mod remove;
mod scalar;
mod set;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use serde_json::Value;

pub use append::append;
pub use remove::remove;
pub use scalar::Scalar;
pub use set::set;

use crate::workflow::compile::Syntax;
use crate::workflow::diagnostic::Diagnostic;
use crate::workflow::document::{self, Node};

/// A part of the way to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// One change of a text. All that is outside of the range stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// In bytes of the text that it was made for.
    pub range: Range<usize>,
    pub with: String,
}

impl Edit {
    /// The changed text.
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.range.start], &self.with, &text[self.range.end..]].concat()
    }
}

/// Why a text is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the text is not YAML that can be read: {}", .0.message)]
    NotYaml(Diagnostic),
    #[error("there is no `{path}` in it")]
    NoSuchPlace { path: String },
    #[error("`{path}` is {found}, and {wanted} is needed there")]
    WrongKind { path: String, found: &'static str, wanted: &'static str },
    /// It could not be done so that nothing else changes.
    #[error("`{path}` is written in a way that cannot be changed without touching more; change it by hand")]
    TooSpecial { path: String },
}

/// A text that was read, and a place in it.
struct Target<'a> {
    text: &'a str,
    root: Option<Node>,
    path: &'a [Step<'a>],
}

impl<'a> Target<'a> {
    fn read(text: &'a str, path: &'a [Step<'a>]) -> Result<Self, Error> {
        let root = document::parse_any(text, Syntax::Yaml).map_err(Error::NotYaml)?;
        Ok(Self { text, root, path })
    }

    fn find(&self, path: &[Step<'_>]) -> Option<&Node> {
        path.iter().try_fold(self.root.as_ref()?, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Index(index) => node.as_list()?.get(*index),
        })
    }

    fn json(&self) -> Value {
        self.root.as_ref().map_or(Value::Null, Node::to_json)
    }

    fn too_special(&self) -> Error {
        Error::TooSpecial { path: shown(self.path) }
    }

    fn missing(&self) -> Error {
        Error::NoSuchPlace { path: shown(self.path) }
    }

    /// The first of some edits of which the text holds exactly these values.
    fn first_verified(&self, edits: impl IntoIterator<Item = Edit>, wanted: &Value) -> Result<Edit, Error> {
        let mut verified = edits.into_iter().filter_map(|edit| self.verified(edit, wanted).ok());
        verified.next().ok_or_else(|| self.too_special())
    }

    /// The edit, if the text that it makes holds exactly these values.
    fn verified(&self, edit: Edit, wanted: &Value) -> Result<Edit, Error> {
        let changed = document::parse_any(&edit.apply(self.text), Syntax::Yaml);
        let found = changed.ok().map(|root| root.as_ref().map_or(Value::Null, Node::to_json));
        if found.as_ref() == Some(wanted) { Ok(edit) } else { Err(self.too_special()) }
    }
}

/// The value at a path, to be changed.
fn at<'v>(value: &'v mut Value, path: &[Step<'_>]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.as_object_mut()?.get_mut(*key),
        Step::Index(index) => value.as_array_mut()?.get_mut(*index),
    })
}

fn shown(path: &[Step<'_>]) -> String {
    struct Shown<'a, 'b>(&'a [Step<'b>]);
    impl fmt::Display for Shown<'_, '_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (number, step) in self.0.iter().enumerate() {
                match step {
                    Step::Key(key) if number == 0 => f.write_str(key)?,
                    Step::Key(key) => write!(f, ".{key}")?,
                    Step::Index(index) => write!(f, "[{index}]")?,
                }
            }
            Ok(())
        }
    }
    Shown(path).to_string()
}
