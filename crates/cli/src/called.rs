//! Where this program is, for others that are to start it.

use std::path::{Path, PathBuf};

use crate::error::CliError;

/// By its whole path: editors and service managers that are not started from a shell have another `PATH`. By the link under
/// which it was called, if there is one: what a package manager links to has another name after the next update.
pub(crate) fn program() -> Result<PathBuf, CliError> {
    let own = std::env::current_exe().map_err(CliError::file("find", "longhaul"))?;
    Ok(called(&own).unwrap_or(own))
}

/// The path that we were called by, if it leads to us.
fn called(own: &Path) -> Option<PathBuf> {
    let word = PathBuf::from(std::env::args_os().next()?);
    let here = std::env::current_dir().ok()?;
    let candidates: Vec<PathBuf> = if word.components().count() > 1 {
        vec![here.join(&word)]
    } else {
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| here.join(folder).join(&word)).collect()
    };
    let own = own.canonicalize().ok()?;
    let found = candidates.into_iter().find(|path| path.canonicalize().is_ok_and(|path| path == own))?;
    // Without dots: the folder in which somebody stood says nothing to an editor.
    let folder = found.parent()?.canonicalize().ok()?;
    Some(folder.join(found.file_name()?))
}
