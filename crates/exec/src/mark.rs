//! The mark in a program's environment by which its descendants are found. Must never repeat.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;

/// Holds the marks of all programs around a process, outermost first, joined by `:`.
pub(crate) const VARIABLE: &str = "LONGHAUL_PROCESS";

#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn fresh() -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        Ok(Self(random.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })))
    }

    /// The value of the variable for a program started by a process that has `outer` itself.
    pub(crate) fn value(&self, outer: Option<&OsStr>, label: Option<&str>) -> OsString {
        let mut value = OsString::new();
        for before in [outer, label.map(OsStr::new)].into_iter().flatten().filter(|before| !before.is_empty())
        {
            value.push(before);
            value.push(":");
        }
        value.push(&self.0);
        value
    }

    /// Whether an environment block, as in `/proc/<pid>/environ`, carries this mark.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn is_in(&self, environment: &[u8]) -> bool {
        marks_in(environment).any(|mark| mark == self.0.as_bytes())
    }
}

/// All marks and labels in an environment block, outermost first.
#[cfg(any(target_os = "linux", test))]
pub(crate) fn marks_in(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))
        .flat_map(|value| value.split(|byte| *byte == b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_alone_and_among_the_marks_of_nested_programs() {
        let outer = Mark::fresh().unwrap();
        let inner = Mark::fresh().unwrap();
        let nested = inner.value(Some(&outer.value(None, None)), Some("label"));
        let block = [b"A=b\0LONGHAUL_PROCESS=", nested.as_encoded_bytes(), b"\0C=d\0"].concat();
        assert!(outer.is_in(&block));
        assert!(inner.is_in(&block));
        assert!(!Mark::fresh().unwrap().is_in(&block));
        assert_eq!(marks_in(&block).nth(1), Some(&b"label"[..]));
    }

    #[test]
    fn a_mark_in_another_variable_does_not_count() {
        let mark = Mark::fresh().unwrap();
        let block = [b"NOTE=LONGHAUL_PROCESS=", mark.0.as_bytes(), b"\0"].concat();
        assert!(!mark.is_in(&block));
    }
}
