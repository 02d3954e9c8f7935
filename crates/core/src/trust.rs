//! The content hash of a `.longhaul/` folder: what a person trusts, and what a task pins.

use longhaul_events::Digest;
use sha2::{Digest as _, Sha256};

use crate::canonical::sha256;

/// One file of the folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FolderFile {
    /// Relative to the folder, with `/` between its parts.
    pub path: Vec<u8>,
    pub kind: FileKind,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    Regular,
    Executable,
    /// `bytes` is where it points; what lies there is not read.
    Symlink,
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

#[cfg(test)]
mod tests {
    use super::*;

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
