//! What is wrong with a workflow file, where, and how to put it right.

use std::ops::Range;

use serde::Serialize;

/// One finding. Places are bytes of the text that was compiled; lines and columns are made when it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Lower case, no full stop, code in backticks.
    pub message: String,
    pub span: Range<usize>,
    /// What to do about it.
    pub fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Warning,
    Error,
}

/// A place as people count: both from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: usize,
    /// In characters.
    pub column: usize,
}

impl Diagnostic {
    pub fn error(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), span, fix: None }
    }

    pub fn warning(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, message: message.into(), span, fix: None }
    }

    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Where it begins in `text`, the text that was compiled.
    pub fn place(&self, text: &str) -> Place {
        let mut start = self.span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

/// What compiling gave: the workflow unless there was an error, and every finding in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<T> {
    pub value: Option<T>,
    pub diagnostics: Vec<Diagnostic>,
}
