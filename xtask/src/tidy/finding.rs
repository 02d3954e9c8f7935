//! What a check found: where, what, and what to do about it.

use std::fmt;

/// One breach of a house rule. Sorted by place, so that the output does not depend on the order of checks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    /// `line` counts from 1. `message` says what is wrong and what to do.
    pub(crate) fn new(path: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The findings as a person sees them: what the checks' tests compare.
#[cfg(test)]
pub(crate) fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}
