//! Where a path stands, read from the files of git alone: no process is started, nothing is written.
//!
//! For what must be fast and is only shown. Whoever acts on a repository uses [`crate::discover`], which asks git.

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// No file that is read here is longer.
const LONGEST: u64 = 64 * 1024;

/// A place in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// The top of the checkout; none in a bare repository.
    pub top: Option<PathBuf>,
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
}

/// Walks up from a folder to the first that is a checkout or a bare repository.
pub fn whereabouts(folder: &Path) -> Result<Whereabouts, Error> {
    let start = fs::canonicalize(folder)
        .map_err(|source| Error::PathUnreadable { path: folder.to_owned(), source })?;
    for top in start.ancestors() {
        let entry = top.join(".git");
        let git_dir = match fs::metadata(&entry) {
            Ok(found) if found.is_dir() && is_git_dir(&entry) => entry,
            Ok(found) if found.is_file() => link(top, &entry)?,
            _ if is_git_dir(top) => {
                let common_dir = common(top);
                return Ok(Whereabouts { top: None, git_dir: top.to_owned(), common_dir });
            }
            Ok(_) | Err(_) => continue,
        };
        let git_dir = fs::canonicalize(&git_dir).unwrap_or(git_dir);
        let common_dir = common(&git_dir);
        return Ok(Whereabouts { top: Some(top.to_owned()), git_dir, common_dir });
    }
    Err(Error::NotARepository { path: start })
}

impl Whereabouts {
    /// The branch that the head is on, if it is on one.
    pub fn branch(&self) -> Option<String> {
        let text = read(&self.git_dir.join("HEAD"))?;
        let name = text.strip_prefix(b"ref: refs/heads/")?;
        String::from_utf8(name.trim_ascii_end().to_vec()).ok()
    }
}

/// The linked worktrees that a repository knows, by the folders that they say they are in. An error if the list
/// cannot be read: then nobody knows what is not in it.
pub fn linked_worktrees(common_dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = common_dir.join("worktrees");
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("list", &folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::file("list", &folder))?;
        let file = entry.path().join("gitdir");
        let text = fs::read(&file).map_err(Error::file("read", &file))?;
        let path = entry.path().join(OsStr::from_bytes(text.trim_ascii_end()));
        found.extend(path.parent().map(Path::to_path_buf));
    }
    Ok(found)
}

fn is_git_dir(folder: &Path) -> bool {
    let has_head = fs::symlink_metadata(folder.join("HEAD")).is_ok();
    let common = common(folder);
    has_head && common.join("objects").is_dir() && common.join("refs").exists()
}

fn link(top: &Path, file: &Path) -> Result<PathBuf, Error> {
    let broken = || Error::BrokenLink { path: top.to_owned(), message: "it names no git data".to_owned() };
    let text = read(file).ok_or_else(broken)?;
    let target = text.strip_prefix(b"gitdir: ").ok_or_else(broken)?;
    let target = top.join(OsStr::from_bytes(target.trim_ascii_end()));
    if is_git_dir(&target) { Ok(target) } else { Err(broken()) }
}

fn common(git_dir: &Path) -> PathBuf {
    let Some(text) = read(&git_dir.join("commondir")) else { return git_dir.to_owned() };
    let path = git_dir.join(OsStr::from_bytes(text.trim_ascii_end()));
    fs::canonicalize(&path).unwrap_or(path)
}

/// A small file; anything else might not end, or never begin.
fn read(path: &Path) -> Option<Vec<u8>> {
    let found = fs::metadata(path).ok()?;
    if !found.is_file() || found.len() > LONGEST {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
