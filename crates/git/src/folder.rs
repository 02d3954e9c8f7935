//! The files below a folder of a commit, without a checkout. Must never hand out a part of the folder as
//! the whole of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::command::Git;
use crate::{Error, ObjectId, Repository, resolve};

/// How much a folder may hold in all.
pub const FOLDER_LIMIT_BYTES: u64 = 8 * 1024 * 1024;
/// Each object comes with a line of its id, type and size, and a newline.
const HEADER_LIMIT_BYTES: usize = 128;
const LIST_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// One file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    /// Relative to the folder.
    pub path: PathBuf,
    pub mode: Mode,
    /// The content as committed; of a symbolic link its target.
    pub bytes: Vec<u8>,
}

/// What kind of file an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Regular,
    Executable,
    Symlink,
}

/// Reads all files below a folder of a commit, in git's order. A folder that is not there is empty.
pub fn read_folder(repository: &Repository, revision: &str, folder: &str) -> Result<Vec<FolderEntry>, Error> {
    let folder = checked(folder)?;
    let commit = resolve(repository, revision)?;
    let listed = list(repository, &commit, folder)?;
    let total_bytes: u64 = listed.iter().map(|entry| entry.size_bytes).sum();
    if total_bytes > FOLDER_LIMIT_BYTES {
        return Err(too_large(folder));
    }
    read(repository, listed, total_bytes)
}

/// Whether a commit has a file or a folder of this name, given relative to its top.
pub fn has_path(repository: &Repository, revision: &str, path: &str) -> Result<bool, Error> {
    let path = checked(path)?;
    let commit = resolve(repository, revision)?;
    let listing = ["ls-tree", "-z", "--name-only", "--full-tree", commit.as_str(), "--", path];
    Ok(!Git::in_repository(repository).args(listing).run()?.succeeded()?.is_empty())
}

/// An entry whose content is still to be read.
#[derive(Debug)]
struct Listed {
    path: PathBuf,
    mode: Mode,
    id: ObjectId,
    size_bytes: u64,
}

fn checked(folder: &str) -> Result<&str, Error> {
    let trimmed = folder.trim_end_matches('/');
    if trimmed.is_empty() || trimmed.contains('\0') || !is_plain(Path::new(trimmed)) {
        return Err(Error::FolderName { folder: folder.to_owned() });
    }
    Ok(trimmed)
}

fn is_plain(path: &Path) -> bool {
    // Path components swallow a `.` in the middle, git does not.
    let dotted =
        path.as_os_str().as_bytes().split(|byte| *byte == b'/').any(|part| part == b"." || part.is_empty());
    !dotted && path.components().all(|component| matches!(component, Component::Normal(_)))
}

fn too_large(folder: &str) -> Error {
    Error::FolderTooLarge { folder: folder.to_owned(), limit_bytes: FOLDER_LIMIT_BYTES }
}

fn list(repository: &Repository, commit: &ObjectId, folder: &str) -> Result<Vec<Listed>, Error> {
    let prefix = format!("{folder}/");
    let listing = ["ls-tree", "-r", "-z", "-l", "--full-tree", commit.as_str(), "--", &prefix];
    let git = Git::in_repository(repository).args(listing).answer_limit_bytes(LIST_LIMIT_BYTES);
    let stdout = match git.run() {
        Err(Error::AnswerTooLarge { .. }) => return Err(too_large(folder)),
        answer => answer?.succeeded()?,
    };
    stdout
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
        .map(|line| parse(line, prefix.as_bytes()))
        .collect()
}

/// Reads `<mode> SP <type> SP <id> SP <size> TAB <path>`.
fn parse(line: &[u8], prefix: &[u8]) -> Result<Listed, Error> {
    let unknown = || Error::UnknownAnswer {
        command: "git ls-tree".into(),
        answer: String::from_utf8_lossy(line).into_owned(),
    };
    let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(unknown)?;
    let facts = str::from_utf8(&line[..tab]).map_err(|_| unknown())?;
    let whole_path = &line[tab + 1..];
    let path = path(whole_path.strip_prefix(prefix).ok_or_else(unknown)?)?;
    let facts: Vec<&str> = facts.split_ascii_whitespace().collect();
    let [mode, _, id, size] = facts[..] else { return Err(unknown()) };
    let mode = match mode {
        "100644" | "100664" => Mode::Regular,
        "100755" => Mode::Executable,
        "120000" => Mode::Symlink,
        other => return Err(Error::UnsupportedEntry { path, mode: other.to_owned() }),
    };
    // For what is not there git prints `BAD` in place of a size.
    let Ok(size_bytes) = size.parse() else { return Err(Error::ObjectMissing { path }) };
    Ok(Listed { path, mode, id: ObjectId::parse(id).ok_or_else(unknown)?, size_bytes })
}

/// A tree can be made by hand with names that git itself would not check out.
fn path(bytes: &[u8]) -> Result<PathBuf, Error> {
    let path = PathBuf::from(OsStr::from_bytes(bytes));
    if is_plain(&path) { Ok(path) } else { Err(Error::UnsafePath { path }) }
}

fn read(repository: &Repository, listed: Vec<Listed>, total_bytes: u64) -> Result<Vec<FolderEntry>, Error> {
    if listed.is_empty() {
        return Ok(Vec::new());
    }
    let content = usize::try_from(total_bytes).expect("the total was held against a limit that fits");
    let limit = content + listed.len() * HEADER_LIMIT_BYTES;
    let ids: Vec<&str> = listed.iter().flat_map(|entry| [entry.id.as_str(), "\n"]).collect();
    let answer = Git::in_repository(repository)
        .args(["cat-file", "--batch"])
        .stdin(ids.concat().into_bytes())
        .answer_limit_bytes(limit)
        .run()?;
    let stdout = answer.succeeded()?;
    let mut rest = stdout.as_slice();
    let mut entries = Vec::with_capacity(listed.len());
    for Listed { path, mode, id, size_bytes } in listed {
        let header = format!("{id} blob {size_bytes}\n");
        let Some((bytes, after)) = take(rest, header.as_bytes(), size_bytes) else {
            return Err(Error::ObjectMissing { path });
        };
        entries.push(FolderEntry { path, mode, bytes: bytes.to_vec() });
        rest = after;
    }
    Ok(entries)
}

/// Takes one object with its header off the front.
fn take<'a>(bytes: &'a [u8], header: &[u8], size_bytes: u64) -> Option<(&'a [u8], &'a [u8])> {
    let body = bytes.strip_prefix(header)?;
    let (content, after) = body.split_at_checked(usize::try_from(size_bytes).ok()?)?;
    Some((content, after.strip_prefix(b"\n")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0";

    fn parsed(line: &str) -> Result<Listed, Error> {
        parse(line.as_bytes(), b"f/")
    }

    #[test]
    fn a_line_of_a_listing_is_understood() {
        let listed = parsed(&format!("100755 blob {ID}      12\tf/a b\n\tc")).unwrap();
        assert_eq!(listed.path, Path::new("a b\n\tc"));
        assert_eq!(listed.mode, Mode::Executable);
        assert_eq!(listed.size_bytes, 12);
    }

    #[test]
    fn an_object_without_a_size_is_missing() {
        let error = parsed(&format!("100644 blob {ID}     BAD\tf/a")).unwrap_err();
        assert!(matches!(error, Error::ObjectMissing { .. }), "{error:?}");
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        for path in ["../a", "a/../../b", "/etc/passwd", "./a", "a//b", "a/./b"] {
            let error = parsed(&format!("100644 blob {ID} 1\tf/{path}")).unwrap_err();
            assert!(matches!(error, Error::UnsafePath { .. }), "{path}: {error:?}");
        }
    }

    #[test]
    fn a_folder_is_named_by_a_relative_path() {
        assert_eq!(checked(".longhaul").unwrap(), ".longhaul");
        assert_eq!(checked("a/b/").unwrap(), "a/b");
        for folder in ["", "/", "/a", ".", "..", "a/../b", "a/./b", "./a", "a//b", "a\0b"] {
            assert!(matches!(checked(folder), Err(Error::FolderName { .. })), "{folder:?}");
        }
    }
}
