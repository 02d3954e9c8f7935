//! `longhaul workflow list`: every workflow that can be seen from here.

use std::process::ExitCode;

use longhaul_runtime::terminal;
use longhaul_runtime::workflows::{Entry, Format, Report, State};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// List the workflows that can be seen from here.
///
/// They come from `.longhaul/workflows/` of the repository, your own folder, git sources that you added, and the
/// binary; of two with one id the earlier place counts. STATE is `ok`; `invalid` if it has errors; `untrusted` if it
/// belongs to a repository that nobody trusts as it is now.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show also those that another with the same id stands before.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct EntryRow {
    id: String,
    name: String,
    version: String,
    category: Option<String>,
    about: String,
    format: Option<&'static str>,
    source: String,
    path: String,
    state: &'static str,
    /// The first error, with its place.
    problem: Option<String>,
    shadows: Vec<String>,
    shadowed_by: Option<String>,
}

impl EntryRow {
    pub(super) fn of(entry: &Entry) -> Self {
        let error = entry.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
        Self {
            id: entry.id.clone(),
            name: entry.name.clone(),
            version: entry.version.clone(),
            category: entry.category.clone(),
            about: entry.about.clone(),
            format: entry.format.map(format),
            source: entry.origin.to_string(),
            path: entry.path.clone(),
            state: match entry.state {
                State::Ok => "ok",
                State::Invalid => "invalid",
                State::Untrusted => "untrusted",
            },
            problem: error.map(|error| Report::new(&entry.path, &entry.text, error).to_string()),
            shadows: entry.shadows.clone(),
            shadowed_by: entry.shadowed_by.clone(),
        }
    }
}

impl EntryRow {
    /// What a preview of it does not tell, a line each.
    pub(super) fn facts(&self) -> String {
        let mut lines = vec![
            ("id", self.id.clone()),
            ("state", self.state.to_owned()),
            ("source", self.source.clone()),
            ("path", self.path.clone()),
            ("shadows", self.shadows.join(", ")),
            ("shadowed", self.shadowed_by.clone().unwrap_or_default()),
        ];
        lines.retain(|(_, text)| !text.is_empty());
        let line =
            |(name, text): (&str, String)| format!("{name:<10}{}\n", terminal::visible(&one_line(&text)));
        lines.into_iter().map(line).collect()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const fn format(format: Format) -> &'static str {
    match format {
        Format::Native => "native",
        Format::WorkRail => "workrail",
    }
}

impl Row for EntryRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![
            ("ID", self.id.clone()),
            ("VERSION", self.version.clone()),
            ("STATE", self.state.to_owned()),
            ("SOURCE", self.source.clone()),
            ("NAME", self.name.clone()),
        ]
    }

    fn note(&self) -> Option<String> {
        let shadowed = self.shadowed_by.as_ref().map(|by| format!("`{by}` stands before it"));
        let shadows = (!self.shadows.is_empty()).then(|| format!("stands before {}", quoted(&self.shadows)));
        self.problem.clone().or(shadowed).or(shadows)
    }
}

fn quoted(paths: &[String]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let catalog = context.system()?.catalog()?;
    let mut entries = catalog.entries();
    entries.retain(|entry| args.all || entry.shadowed_by.is_none());
    let rows: Vec<EntryRow> = entries.iter().map(EntryRow::of).collect();
    context.output.rows(&rows)?;
    for problem in catalog.problems() {
        context.output.say(&format!("not all could be looked at: {problem}"));
    }
    if entries.iter().any(|entry| entry.state == State::Untrusted) {
        context.output.say("what is untrusted does not start; look at it and run `longhaul workspace trust`");
    }
    Ok(ExitCode::SUCCESS)
}
