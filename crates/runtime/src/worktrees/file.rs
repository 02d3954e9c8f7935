//! The file about a worktree, in one place of the repository: readable from every checkout of it, written whole, and
//! kept when the worktree goes.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::WorktreeError;
use crate::error::Error;

/// More than any such file holds.
const LONGEST_BYTES: u64 = 1024 * 1024;

/// What everybody may know about a worktree. A file that lacks newer fields is whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WorktreeFile {
    pub name: String,
    #[serde(default)]
    pub task: Option<String>,
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub workspace: Option<String>,
    pub worktree_path: String,
    #[serde(default)]
    pub branch: Option<String>,
    #[serde(default)]
    pub base_branch: Option<String>,
    #[serde(default)]
    pub base_commit: Option<String>,
    #[serde(default)]
    pub dependencies: Vec<String>,
    #[serde(default)]
    pub owned_files: Vec<String>,
    #[serde(default)]
    pub created_at: Option<String>,
    #[serde(default)]
    pub created_by: Option<String>,
    #[serde(default)]
    pub vcs_backend: Option<String>,
    #[serde(default)]
    pub item: Option<String>,
    #[serde(default)]
    pub phase: Option<String>,
    #[serde(default)]
    pub budget: Option<Value>,
    #[serde(default)]
    pub status: Option<String>,
}

/// One file of the folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) read: Result<WorktreeFile, WorktreeError>,
}

/// Refuses what could lead out of the folder.
pub(super) fn check_name(name: &str) -> Result<(), WorktreeError> {
    let fits = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if name.is_empty()
        || name.len() > 200
        || name.starts_with('.')
        || name.contains("..")
        || !name.chars().all(fits)
    {
        return Err(WorktreeError::Name(name.to_owned()));
    }
    Ok(())
}

pub(super) fn folder(common_dir: &Path) -> PathBuf {
    common_dir.join("longhaul/worktrees")
}

fn path_of(common_dir: &Path, name: &str) -> PathBuf {
    folder(common_dir).join(format!("{name}.json"))
}

fn archived_path(common_dir: &Path, name: &str) -> PathBuf {
    folder(common_dir).join("archived").join(format!("{name}.json"))
}

/// The file of a worktree, or its archived copy; `None` if there is neither. Malformed is not absent.
pub(super) fn read(common_dir: &Path, name: &str) -> Result<Option<WorktreeFile>, Error> {
    check_name(name)?;
    for path in [path_of(common_dir, name), archived_path(common_dir, name)] {
        if let Some(found) = read_path(&path) {
            return found.map(Some).map_err(Error::from);
        }
    }
    Ok(None)
}

/// Every file of the folder, by name.
pub(super) fn all(common_dir: &Path) -> Result<Vec<Entry>, Error> {
    let folder = folder(common_dir);
    let failed = |source| Error::ReadFile { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_none_or(|end| end != "json") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.extend(read_path(&path).map(|read| Entry { name, read }));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

pub(super) fn read_path(path: &Path) -> Option<Result<WorktreeFile, WorktreeError>> {
    let malformed = |problem: String| WorktreeError::Malformed { path: path.to_owned(), problem };
    let bytes = match small_file(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(Err(malformed(error.to_string()))),
    };
    Some(serde_json::from_slice(&bytes).map_err(|problem| malformed(problem.to_string())))
}

pub(super) fn small_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.len() > LONGEST_BYTES {
        return Err(io::Error::other("it is no file, or far too long for one of these"));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts the file in place whole or not at all.
pub(super) fn write(common_dir: &Path, file: &WorktreeFile) -> Result<(), Error> {
    check_name(&file.name)?;
    write_to(&path_of(common_dir, &file.name), file)
}

/// Keeps a copy for whoever asks later, and takes the file away.
pub(super) fn archive(common_dir: &Path, file: &WorktreeFile) -> Result<(), Error> {
    check_name(&file.name)?;
    write_to(&archived_path(common_dir, &file.name), file)?;
    let path = path_of(common_dir, &file.name);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::WriteFile { path, source }),
        _ => Ok(()),
    }
}

fn write_to(path: &Path, file: &WorktreeFile) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(file).expect("its keys are strings");
    write_whole(path, format!("{text}\n").as_bytes())
}

pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |source| Error::WriteFile { path: path.to_owned(), source };
    let folder = path.parent().expect("it lies in a folder of ours");
    fs::create_dir_all(folder).map_err(failed)?;
    let mut new = tempfile::Builder::new().prefix(".new-").tempfile_in(folder).map_err(failed)?;
    new.write_all(bytes).and_then(|()| new.as_file().sync_all()).map_err(failed)?;
    new.persist(path).map_err(|error| failed(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in ["", "..", "a/../b", "../../../x", "a/b", "a b", ".hidden", "a\0b", "a\nb", "a\\b"] {
            assert!(matches!(check_name(name), Err(WorktreeError::Name(_))), "{name:?}");
        }
        for name in ["q3v7-fix-login", "010-feature-WP01", "a.b"] {
            assert!(check_name(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn malformed_is_not_absent_and_a_file_without_newer_fields_is_whole() {
        let home = tempfile::tempdir().unwrap();
        let common = home.path();
        assert!(read(common, "a").unwrap().is_none());
        assert!(!folder(common).exists(), "reading makes nothing");
        write(
            common,
            &WorktreeFile { name: "a".into(), worktree_path: "/x".into(), ..WorktreeFile::default() },
        )
        .unwrap();
        assert_eq!(read(common, "a").unwrap().unwrap().worktree_path, "/x");
        fs::write(folder(common).join("old.json"), br#"{"name":"old","worktree_path":"/y","later":1}"#)
            .unwrap();
        assert_eq!(read(common, "old").unwrap().unwrap().worktree_path, "/y");
        for text in ["", "{", "[]", r#"{"name":"b"}"#] {
            fs::write(folder(common).join("b.json"), text).unwrap();
            assert!(
                matches!(read(common, "b"), Err(Error::Worktree(WorktreeError::Malformed { .. }))),
                "{text}"
            );
        }
        let listed: Vec<(String, bool)> =
            all(common).unwrap().into_iter().map(|entry| (entry.name, entry.read.is_ok())).collect();
        assert_eq!(listed, [("a".into(), true), ("b".into(), false), ("old".into(), true)]);
    }

    #[test]
    fn an_archived_copy_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = WorktreeFile { name: "a".into(), worktree_path: "/x".into(), ..WorktreeFile::default() };
        write(home.path(), &file).unwrap();
        archive(home.path(), &WorktreeFile { status: Some("archived".into()), ..file }).unwrap();
        assert!(all(home.path()).unwrap().is_empty());
        assert_eq!(read(home.path(), "a").unwrap().unwrap().status.as_deref(), Some("archived"));
    }
}
