//! `longhaul artifact save`: writes an artifact to a file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tempfile::NamedTempFile;

use super::{find, written};
use crate::context::Context;
use crate::error::CliError;

/// Write an artifact to a file: a text as it is, all else as JSON.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The artifact, such as `s-041061050r3gg.4.1`; the session's id may be shortened.
    id: String,

    /// Where to; `-` is standard output.
    file: PathBuf,

    /// Also over a file that is there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let artifact = find(&context.system()?, &args.id)?;
    let text = written(&artifact.value);
    if args.file == Path::new("-") {
        context.output.text(&text, &artifact.value)?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = behind_links(&args.file)?;
    let written = whole_beside(&file, &text).map_err(CliError::file("write", &args.file))?;
    let placed = if args.force { written.persist(&file) } else { written.persist_noclobber(&file) };
    placed.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => CliError::ExistsUnforced { path: args.file.clone() },
        _ => CliError::file("write", &args.file)(error.error),
    })?;
    let saved = json!({"id": artifact.id, "file": args.file.display().to_string(), "bytes": text.len()});
    context.output.text("", &saved)?;
    context.output.say(&format!("`{}` is in {}", artifact.id, args.file.display()));
    Ok(ExitCode::SUCCESS)
}

/// The file that a link leads to. What is no file (a device, a pipe) would not survive being replaced.
fn behind_links(path: &Path) -> Result<PathBuf, CliError> {
    match fs::canonicalize(path) {
        Ok(file) if file.is_file() => Ok(file),
        Ok(_) => Err(CliError::NotAPlainFile { path: path.to_owned() }),
        Err(_) => Ok(path.to_owned()),
    }
}

/// The whole text in a file beside the one that is meant, so that nobody ever sees half of it.
fn whole_beside(file: &Path, text: &str) -> std::io::Result<NamedTempFile> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    fs::metadata(folder)?;
    // The error would name a file that nobody asked for.
    let mut written = NamedTempFile::new_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    written.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(file) {
        written.as_file().set_permissions(old.permissions())?;
    }
    written.as_file().sync_all()?;
    Ok(written)
}
