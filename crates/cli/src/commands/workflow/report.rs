//! Findings with their places: drawn under the line for people, one row each for scripts.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use longhaul_runtime::terminal;
use longhaul_runtime::workflows::{Diagnostic, Report, Severity};
use serde::Serialize;

/// A finding as scripts get it.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct FindingRow {
    file: String,
    line: usize,
    column: usize,
    severity: &'static str,
    message: String,
    fix: Option<String>,
    excerpt: String,
}

impl FindingRow {
    pub(in crate::commands) fn of(path: &str, text: &str, diagnostic: &Diagnostic) -> Self {
        let report = Report::new(path, text, diagnostic);
        Self {
            file: report.path,
            line: report.place.line,
            column: report.place.column,
            severity: match report.severity {
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            message: report.message,
            fix: report.fix,
            excerpt: report.excerpt,
        }
    }
}

/// A finding as people see it.
pub(in crate::commands) fn drawn(path: &str, text: &str, diagnostic: &Diagnostic) -> String {
    let path = terminal::visible(path);
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let group = level.primary_title(terminal::visible(&diagnostic.message));
    let mut group = if text.is_empty() {
        Group::with_title(group).element(annotate_snippets::Origin::path(path))
    } else {
        let mark = AnnotationKind::Primary.span(first_line(text, diagnostic));
        group.element(Snippet::source(text).path(path).annotation(mark))
    };
    if let Some(fix) = &diagnostic.fix {
        group = group.element(Level::HELP.message(terminal::visible(fix)));
    }
    let drawing = Renderer::plain().render(&[group]);
    // The lines of the file are somebody else's.
    drawing.lines().map(|line| terminal::visible(line) + "\n").collect()
}

/// The part of a span that lies in its first line: a mark over half a file marks nothing.
fn first_line(text: &str, diagnostic: &Diagnostic) -> std::ops::Range<usize> {
    let whole = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (start, end) = (whole(diagnostic.span.start), whole(diagnostic.span.end));
    let line_end = text[start..].find(['\n', '\r']).map_or(text.len(), |length| start + length);
    start..end.clamp(start, line_end)
}
