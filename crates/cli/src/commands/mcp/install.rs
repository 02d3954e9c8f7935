//! `longhaul mcp install`: writes us into the settings of an agent, or takes us out again.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::client::{Client, Syntax};
use super::{json_settings, toml_settings};
use crate::called;
use crate::context::Context;
use crate::error::CliError;

/// Write Longhaul into the settings of a coding agent, for every project of yours.
///
/// Everything else in the file stays as it is. A file that cannot be read is not touched; what to paste is shown
/// instead.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The agent.
    client: Client,

    /// Take the entry out again, and nothing else.
    #[arg(long, conflicts_with = "print")]
    undo: bool,

    /// Only show what would be pasted.
    #[arg(long)]
    print: bool,
}

/// Why a file is left alone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("it has something else where its servers should be")]
    NotAnObject,
    #[error("it has another server called `longhaul`")]
    NotOurs,
    #[error("it has `{0}` twice, and which of them counts is not known")]
    Twice(String),
    #[error("it may not be written (its mode says so)")]
    ReadOnly,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let client = args.client;
    let program = called::program()?.display().to_string();
    if args.print {
        let snippet = client.snippet(&program);
        context.output.text(&snippet, &json!({ "client": client.title(), "snippet": snippet }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or(CliError::NoHome)?;
    let path = client.file(&home, |name| std::env::var_os(name).map(PathBuf::from));
    let before = read(&path)?;
    let text = before.as_deref().unwrap_or_default();
    let written = if args.undo {
        let blocked = |why| CliError::NotTakenOut { path: path.clone(), why };
        Written { text: without(client, text).map_err(blocked)?, replaced: Vec::new() }
    } else {
        let snippet = client.snippet(&program);
        with(client, text, &program).map_err(|why| CliError::Unwritable {
            path: path.clone(),
            why,
            snippet,
        })?
    };
    let Written { text: after, replaced } = written;
    let changed = after != text;
    if changed && fs::metadata(&path).is_ok_and(|file| file.permissions().readonly()) {
        let (why, path) = (Obstacle::ReadOnly, path);
        let snippet = client.snippet(&program);
        let put_in = |path| CliError::Unwritable { path, why: Obstacle::ReadOnly, snippet };
        return Err(if args.undo { CliError::NotTakenOut { path, why } } else { put_in(path) });
    }
    if changed {
        write(&path, &after)?;
    }
    let file = path.display().to_string();
    let row = json!({ "client": client.title(), "file": file, "changed": changed, "replaced": replaced });
    context.output.text("", &row)?;
    for old in &replaced {
        context.output.say(&format!("replaced {old}"));
    }
    context.output.say(&match (changed, args.undo) {
        (true, false) => format!("wrote `{file}`; restart {} and ask it to use a workflow", client.title()),
        (true, true) => format!("took the entry out of `{file}`; restart {}", client.title()),
        (false, false) => format!("`{file}` has it already, nothing was changed"),
        (false, true) => format!("`{file}` has no entry of ours, nothing was changed"),
    });
    Ok(ExitCode::SUCCESS)
}

/// Settings with our entry in them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) text: String,
    /// What the entry said before, field by field.
    pub(super) replaced: Vec<String>,
}

fn with(client: Client, text: &str, program: &str) -> Result<Written, Obstacle> {
    let entry = client.entry(program);
    match client.syntax() {
        Syntax::Json => json_settings::add(text, client.key(), &entry),
        Syntax::Toml => toml_settings::add(text, client.key(), &entry),
    }
}

fn without(client: Client, text: &str) -> Result<String, Obstacle> {
    match client.syntax() {
        Syntax::Json if text.is_empty() => Ok(String::new()),
        Syntax::Json => json_settings::remove(text, client.key()),
        Syntax::Toml => toml_settings::remove(text, client.key()),
    }
}

fn read(path: &Path) -> Result<Option<String>, CliError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::file("read", path)(error)),
    }
}

/// Whole or not at all, through a link if there is one, and with the mode that the file had.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = || CliError::file("write", path);
    let target = behind_links(path).map_err(failed())?;
    let folder = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(failed())?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
    file.write_all(text.as_bytes()).map_err(failed())?;
    if let Ok(old) = fs::metadata(&target) {
        file.as_file().set_permissions(old.permissions()).map_err(failed())?;
    }
    file.as_file().sync_all().map_err(failed())?;
    file.persist(&target).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// Where a path leads, also if there is nothing there yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}
