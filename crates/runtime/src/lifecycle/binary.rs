//! Which program a daemon is, and whether another one lies in its place by now.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A program as it was when somebody looked: its file, told apart from one that took its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// For people: what in it is no text is lost.
    pub path: String,
    pub device: u64,
    pub inode: u64,
    pub modified_ns: i128,
    pub bytes: u64,
}

impl Binary {
    pub(super) fn at(path: &Path) -> Option<Self> {
        Self::seen(path, path)
    }

    /// The program of this process, also if its file is gone by now.
    pub(super) fn own() -> Result<Self, Error> {
        let path = own_path()?;
        let image = Path::new("/proc/self/exe");
        let seen = Self::seen(image, &path).or_else(|| Self::at(&path));
        seen.ok_or_else(|| Error::ReadFile { path, source: std::io::ErrorKind::NotFound.into() })
    }

    fn seen(file: &Path, path: &Path) -> Option<Self> {
        let found = fs::metadata(file).ok()?;
        let modified_ns = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
        let path = path.display().to_string();
        Some(Self { path, device: found.dev(), inode: found.ino(), modified_ns, bytes: found.len() })
    }

    /// Whether it is the same file with the same content, wherever it lies.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        let identity = |one: &Self| (one.device, one.inode, one.modified_ns, one.bytes);
        identity(self) == identity(other)
    }

    /// Whether two files may be copies of one program.
    fn may_be_copy_of(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }

    /// Why somebody who runs this should be restarted: what lies in its place is another program, or we are.
    pub(super) fn outdated(&self, own: Option<&Self>) -> Option<String> {
        match Self::at(Path::new(&self.path)) {
            None => return Some(format!("its program `{}` is gone", self.path)),
            Some(there) if !self.is_same_file(&there) => {
                return Some(format!("its program `{}` was replaced since it started", self.path));
            }
            Some(_) => {}
        }
        let own = own.filter(|own| !self.is_same_file(own) && !self.may_be_copy_of(own))?;
        Some(format!("it runs `{}`, and you call `{}`", self.path, own.path))
    }
}

/// The program of this process, for starting another one of us. If its file was replaced, that is the one that took its name:
/// whoever lives long must not lose the ability to start anybody because of an update.
pub(crate) fn own_program() -> Result<PathBuf, Error> {
    let path = own_path()?;
    let is_there = path.try_exists().unwrap_or(false);
    Ok(if !is_there && cfg!(target_os = "linux") { PathBuf::from("/proc/self/exe") } else { path })
}

fn own_path() -> Result<PathBuf, Error> {
    const GONE: &str = " (deleted)";
    let path =
        std::env::current_exe().map_err(|source| Error::ReadFile { path: "longhaul".into(), source })?;
    if path.exists() {
        return Ok(path);
    }
    // The kernel says so when another file took the name, or none did.
    Ok(path.to_str().and_then(|text| text.strip_suffix(GONE)).map_or_else(|| path.clone(), PathBuf::from))
}
