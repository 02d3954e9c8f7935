//! The content hash of a `.longhaul/` folder: what a person trusts, and what a task pins.

use std::collections::BTreeMap;

use longhaul_events::{Digest, TrustedFile};
use sha2::{Digest as _, Sha256};

use crate::canonical::sha256;

pub use longhaul_events::FileKind;

/// One file of the folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderFile {
    /// Relative to the folder, with `/` between its parts.
    pub path: Vec<u8>,
    pub kind: FileKind,
    /// Of a link, where it points; what lies there is not read.
    pub bytes: Vec<u8>,
}

/// The same for the same files, whatever order they come in; `None` if there are none.
pub fn folder_hash(files: &[FolderFile]) -> Option<Digest> {
    if files.is_empty() {
        return None;
    }
    let mut sorted: Vec<&FolderFile> = files.iter().collect();
    sorted.sort();
    let mut hasher = Sha256::new();
    hasher.update(b"longhaul/folder/1\0");
    for file in sorted {
        hasher.update((file.path.len() as u64).to_be_bytes());
        hasher.update(&file.path);
        hasher.update([match file.kind {
            FileKind::Regular => b'r',
            FileKind::Executable => b'x',
            FileKind::Symlink => b'l',
        }]);
        hasher.update(sha256(&file.bytes).0);
    }
    Some(Digest(hasher.finalize().into()))
}

impl FolderFile {
    /// What is kept of it when a person trusts it.
    pub fn listed(&self) -> TrustedFile {
        let path = String::from_utf8_lossy(&self.path).into_owned();
        TrustedFile { path, kind: self.kind, sha256: sha256(&self.bytes) }
    }
}

/// How a folder differs from what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    pub how: Changed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Added,
    /// Its content, its kind, or where it points.
    Changed,
    Removed,
}

/// What is different now, by path.
pub fn changes(before: &[TrustedFile], now: &[TrustedFile]) -> Vec<Change> {
    let by_path = |files: &[TrustedFile]| -> BTreeMap<String, TrustedFile> {
        files.iter().map(|file| (file.path.clone(), file.clone())).collect()
    };
    let (before, now) = (by_path(before), by_path(now));
    let mut paths: Vec<&String> = before.keys().chain(now.keys()).collect();
    paths.sort();
    paths.dedup();
    let how = |path: &String| match (before.get(path), now.get(path)) {
        (None, Some(_)) => Some(Changed::Added),
        (Some(_), None) => Some(Changed::Removed),
        (Some(before), Some(now)) if before != now => Some(Changed::Changed),
        (Some(_), Some(_)) | (None, None) => None,
    };
    paths.into_iter().filter_map(|path| Some(Change { path: path.clone(), how: how(path)? })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_added_changed_and_removed_are_named_and_no_others() {
        let listed = |files: &[FolderFile]| files.iter().map(FolderFile::listed).collect::<Vec<_>>();
        let (regular, executable) = (FileKind::Regular, FileKind::Executable);
        let before = [
            file("gone", regular, "1"),
            file("mode", regular, "1"),
            file("same", regular, "1"),
            file("text", regular, "1"),
        ];
        let now = [
            file("mode", executable, "1"),
            file("new", regular, "1"),
            file("same", regular, "1"),
            file("text", regular, "2"),
        ];
        let told = changes(&listed(&before), &listed(&now));
        let told: Vec<(&str, Changed)> = told.iter().map(|change| (&*change.path, change.how)).collect();
        let expected = [
            ("gone", Changed::Removed),
            ("mode", Changed::Changed),
            ("new", Changed::Added),
            ("text", Changed::Changed),
        ];
        assert_eq!(told, expected);
    }

    fn file(path: &str, kind: FileKind, bytes: &str) -> FolderFile {
        FolderFile { path: path.into(), kind, bytes: bytes.into() }
    }

    #[test]
    fn the_order_of_files_does_not_matter() {
        let (a, b) = (file("a", FileKind::Regular, "1"), file("b", FileKind::Regular, "2"));
        assert_eq!(folder_hash(&[a.clone(), b.clone()]), folder_hash(&[b, a]));
    }

    #[test]
    fn name_kind_and_content_all_matter() {
        let original = folder_hash(&[file("a", FileKind::Regular, "1")]);
        for other in [
            file("b", FileKind::Regular, "1"),
            file("a", FileKind::Executable, "1"),
            file("a", FileKind::Symlink, "1"),
            file("a", FileKind::Regular, "2"),
        ] {
            assert_ne!(folder_hash(&[other]), original);
        }
    }

    #[test]
    fn content_cannot_pass_for_a_second_file() {
        let one = folder_hash(&[file("a", FileKind::Regular, "1b2")]);
        let two = folder_hash(&[file("a", FileKind::Regular, "1"), file("b", FileKind::Regular, "2")]);
        assert_ne!(one, two);
        assert_eq!(folder_hash(&[]), None);
    }
}
