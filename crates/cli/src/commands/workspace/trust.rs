//! `longhaul workspace trust`: a person looks at `.longhaul/` and says that it may act.
//!
//! What is trusted is the content that was shown, by its hash: never a path, never a later version.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use longhaul_runtime::terminal::{self, Question};
use longhaul_runtime::types::{Change, Changed, Channel, TrustState, Workspace, show_size};
use longhaul_runtime::{Error, SinceTrusted, System, TrustCandidate, TrustFile, TrustRequest};

use super::row::WorkspaceRow;
use crate::context::Context;
use crate::error::CliError;

/// Trust the `.longhaul/` of a repository, exactly as it is now.
///
/// It shows what is there and what has changed since it was last trusted, and asks; only a person at a terminal can answer. When any of it changes, it has to
/// be trusted again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id, its name, or a path in it; without it, the repository of the current folder.
    #[arg(value_name = "ID|NAME|PATH")]
    workspace: Option<String>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let (reader, workspace) = system.find_workspace(args.workspace.as_deref())?;
    let from = seen_from(&system, &workspace, args.workspace.as_deref());
    let candidate = reader.trust_candidate(&workspace, from.as_deref())?;
    if workspace.trust_state(Some(candidate.hash)) == TrustState::Trusted {
        context.output.say(&format!("{}, and was before", trusted(&candidate)));
        return show(context, &system, &workspace);
    }
    let since = reader.since_trusted(&candidate)?;
    let person = terminal::confirm(&question(&candidate, &since))?;
    // A person takes time to read, and others may write meanwhile.
    if reader.trust_candidate(&workspace, from.as_deref())?.hash != candidate.hash {
        return Err(Error::ChangedMeanwhile.into());
    }
    let request = TrustRequest {
        hash: candidate.hash,
        files: candidate.listing.clone(),
        by: person.name,
        channel: Channel::Terminal,
    };
    system.commands()?.trust_workspace(workspace.id, &request)?;
    context.output.say(&trusted(&candidate));
    show(context, &system, &workspace)
}

/// A path names one of the repository's checkouts, an id or a name the main one.
fn seen_from(system: &System, workspace: &Workspace, text: Option<&str>) -> Option<PathBuf> {
    match text {
        None => Some(system.directory().to_owned()),
        Some(text) if text == workspace.name || text == workspace.id.to_string() => None,
        Some(path) => Some(Path::new(path).to_owned()),
    }
}

/// Names the source, because another checkout of the repository may hold something else.
fn trusted(candidate: &TrustCandidate) -> String {
    format!("`{}` is trusted with what is in {}", candidate.name, candidate.source)
}

fn question(candidate: &TrustCandidate, since: &SinceTrusted) -> Question {
    let mut lines = vec![
        format!("Workspace `{}` ({})", candidate.name, candidate.workspace),
        format!("Files in {}:", candidate.source),
    ];
    lines.extend(candidate.files.iter().map(file_line));
    lines.push(format!("Hash of all of it: {}", candidate.hash));
    lines.extend(since_lines(since));
    lines.push("Trusted, its workflows, checks and rules may act on your behalf.".to_owned());
    Question { lines, word: "trust" }
}

fn since_lines(since: &SinceTrusted) -> Vec<String> {
    match since {
        SinceTrusted::Never => Vec::new(),
        SinceTrusted::Unknown { by } => {
            vec![format!("{by} trusted it before; what it was before is not known.")]
        }
        SinceTrusted::Known { by, changes } => {
            let heading = format!("Different from what {by} trusted last:");
            std::iter::once(heading).chain(changes.iter().map(change_line)).collect()
        }
    }
}

fn change_line(change: &Change) -> String {
    let how = match change.how {
        Changed::Added => "added",
        Changed::Changed => "changed",
        Changed::Removed => "removed",
    };
    format!("  {how:7}  {}", change.path)
}

fn file_line(file: &TrustFile) -> String {
    let size = show_size(file.bytes);
    match &file.link {
        Some(target) => format!("  {}  link to {target}", file.path),
        None if file.executable => format!("  {}  {size}, executable", file.path),
        None => format!("  {}  {size}", file.path),
    }
}

fn show(context: &Context, system: &System, workspace: &Workspace) -> Result<ExitCode, CliError> {
    let rows = match system.reader()? {
        Some(reader) => WorkspaceRow::all(&reader)?,
        None => Vec::new(),
    };
    let id = workspace.id.to_string();
    let rows: Vec<WorkspaceRow> = rows.into_iter().filter(|row| row.id == id).collect();
    context.output.rows(&rows)?;
    Ok(ExitCode::SUCCESS)
}
