//! A finding with its place, for people and for scripts.

use longhaul_core::workflow::diagnostic::{Diagnostic, Place, Severity};

/// More of a line than this is not needed to recognise it.
const LONGEST_EXCERPT: usize = 200;

/// A finding as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub path: String,
    pub place: Place,
    pub severity: Severity,
    pub message: String,
    pub fix: Option<String>,
    /// The line that it stands in.
    pub excerpt: String,
}

impl Report {
    pub fn new(path: &str, text: &str, diagnostic: &Diagnostic) -> Self {
        let place = diagnostic.place(text);
        let line = text.lines().nth(place.line - 1).unwrap_or_default();
        Self {
            path: path.to_owned(),
            place,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            fix: diagnostic.fix.clone(),
            excerpt: line.chars().take(LONGEST_EXCERPT).collect::<String>().trim_end().to_owned(),
        }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Place { line, column } = self.place;
        write!(f, "{}:{line}:{column}: {}", self.path, self.message)?;
        self.fix.as_ref().map_or(Ok(()), |fix| write!(f, "; {fix}"))
    }
}
