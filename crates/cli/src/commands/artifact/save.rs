//! `longhaul artifact save`: writes an artifact to a file.

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

    /// Where to.
    file: PathBuf,

    /// Also over a file that is there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let artifact = find(&context.system()?, &args.id)?;
    let text = written(&artifact.value);
    let written = whole_beside(&args.file, &text).map_err(CliError::file("write", &args.file))?;
    let placed = if args.force { written.persist(&args.file) } else { written.persist_noclobber(&args.file) };
    placed.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => CliError::ExistsUnforced { path: args.file.clone() },
        _ => CliError::file("write", &args.file)(error.error),
    })?;
    let saved = json!({"id": artifact.id, "file": args.file.display().to_string(), "bytes": text.len()});
    context.output.text("", &saved)?;
    context.output.say(&format!("`{}` is in {}", artifact.id, args.file.display()));
    Ok(ExitCode::SUCCESS)
}

/// The whole text in a file beside the one that is meant, so that nobody ever sees half of it.
fn whole_beside(file: &Path, text: &str) -> std::io::Result<NamedTempFile> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut written = NamedTempFile::new_in(folder)?;
    written.write_all(text.as_bytes())?;
    written.as_file().sync_all()?;
    Ok(written)
}
