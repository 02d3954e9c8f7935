//! `longhaul workspace add`: registers a repository.

use std::path::PathBuf;
use std::process::ExitCode;

use super::row::WorkspaceRow;
use crate::context::Context;
use crate::error::CliError;

/// Register a git repository.
///
/// Any path in it will do: a subdirectory, a linked worktree, a bare repository. Registering does not trust
/// its `.longhaul/`; `longhaul workspace trust` does.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A path in the repository; without one, the current folder.
    path: Option<PathBuf>,

    /// What to call it; without it, its folder's name.
    #[arg(long, value_parser = name)]
    name: Option<String>,
}

/// A name must be one that can be typed and told from an id or a path.
fn name(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_alphanumeric() || "-_. ".contains(letter);
    let begins = text.chars().next().is_some_and(char::is_alphanumeric);
    if begins && text.trim() == text && text.chars().all(fits) && !text.starts_with("w-") {
        return Ok(text.to_owned());
    }
    Err("begin with a letter or digit, go on with those, `-`, `_`, `.` or spaces, and leave `w-` to ids"
        .to_owned())
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let system = context.system()?;
    let path = args.path.as_deref().unwrap_or(system.directory());
    let change = system.commands()?.add_workspace(path, args.name.as_deref())?;
    let rows = match system.reader()? {
        Some(reader) => WorkspaceRow::all(&reader)?,
        None => Vec::new(),
    };
    let id = change.workspace.id.to_string();
    let (added, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.id == id);
    context.output.rows(&added)?;
    let name = &change.workspace.name;
    let said = if change.unchanged { "was registered already" } else { "is registered" };
    context.output.say(&format!("`{name}` {said}"));
    if others.iter().any(|other| other.name == *name) {
        context.output.say(&format!("another workspace is called `{name}` too; `--name` renames this one"));
    }
    Ok(ExitCode::SUCCESS)
}
