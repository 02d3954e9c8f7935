//! Whether what an agent left in its checkout can be opened: nothing that leads elsewhere, nothing that waits for ever.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What git opens in every folder of a checkout, whoever put it there.
const READ_EVERYWHERE: [&str; 2] = [".gitignore", ".gitattributes"];

/// The first entry of a git folder that is neither a file nor a folder. Loose objects are not looked at: git opens those
/// by their names only. Neither is the list of whom it borrows from: that is put right by us, whatever stands there.
pub(crate) fn not_plain(git_dir: &Path) -> io::Result<Option<PathBuf>> {
    for folder in ["", "info", "objects", "objects/info", "objects/pack"] {
        if let Some(found) = not_plain_in(&git_dir.join(folder), Depth::One)? {
            return Ok(Some(found));
        }
    }
    not_plain_in(&git_dir.join("refs"), Depth::All)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    One,
    All,
}

fn not_plain_in(folder: &Path, depth: Depth) -> io::Result<Option<PathBuf>> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(found) if !found.is_dir() => return Ok(Some(folder.to_owned())),
        Ok(_) => {}
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if !kind.is_file() && !kind.is_dir() && entry.file_name() != "alternates" {
            return Ok(Some(entry.path()));
        }
        if kind.is_dir()
            && depth == Depth::All
            && let Some(found) = not_plain_in(&entry.path(), depth)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Something below a folder that git would open and never come back from.
pub(crate) fn trap_below(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        let is_read = READ_EVERYWHERE.iter().any(|name| entry.file_name() == *name);
        if is_read && !kind.is_file() && !kind.is_dir() && !kind.is_symlink() {
            return Some(entry.path());
        }
        if kind.is_dir()
            && let Some(found) = trap_below(&entry.path())
        {
            return Some(found);
        }
    }
    None
}
