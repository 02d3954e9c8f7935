//! From a path to a workspace, and what its `.longhaul/` holds. Reads only; links are never followed.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longhaul_core::trust::{FileKind, FolderFile, folder_hash};
use longhaul_core::workspace::{self, TrustState, Workspace};
use longhaul_events::{Digest, TrustedFile, WorkspaceId};
use longhaul_git::{Mode, Repository};

use crate::error::Error;

const FOLDER: &str = ".longhaul";

/// More than this is not configuration.
const LARGEST_FOLDER_BYTES: u64 = 16 << 20;
const MOST_FILES: usize = 5000;

/// What a person is asked to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustCandidate {
    pub workspace: WorkspaceId,
    pub name: String,
    /// Where the files were read: a folder, or a commit of a bare repository.
    pub source: String,
    pub hash: Digest,
    pub files: Vec<TrustFile>,
    /// The same as it is put on record.
    pub listing: Vec<TrustedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustFile {
    pub path: String,
    pub bytes: u64,
    pub executable: bool,
    /// Where a symbolic link points.
    pub link: Option<String>,
}

/// A repository under its name in our registry.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) id: WorkspaceId,
    pub(crate) common_dir: String,
    pub(crate) repository: Repository,
}

/// Finds the repository that a path is in, from any subdirectory, worktree or bare repository.
pub(crate) fn locate(path: &Path) -> Result<Located, Error> {
    let repository = longhaul_git::discover(path)?;
    let common_dir = text(&repository.common_dir)?;
    Ok(Located { id: workspace::id_of(&common_dir), common_dir, repository })
}

impl Located {
    /// The name that a person would give it: that of the folder they see.
    pub(crate) fn default_name(&self) -> String {
        let seen = self.repository.main_checkout.as_ref().unwrap_or(&self.repository.common_dir);
        let name = seen.file_name().map_or_else(|| "workspace".into(), |name| name.to_string_lossy());
        name.strip_suffix(".git").filter(|name| !name.is_empty()).unwrap_or(&name).to_owned()
    }

    pub(crate) fn checkout(&self) -> Result<Option<String>, Error> {
        self.repository.main_checkout.as_deref().map(text).transpose()
    }
}

pub(crate) fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| Error::PathNotText(path.to_owned()))
}

/// The files of `.longhaul/` as a task that starts here would pin them, and where they were read.
pub(crate) fn folder_files(repository: &Repository) -> Result<(Vec<FolderFile>, String), Error> {
    if let Some(checkout) = repository.checkout.as_ref().or(repository.main_checkout.as_ref()) {
        let folder = checkout.join(FOLDER);
        return Ok((read_checkout(&folder)?, folder.display().to_string()));
    }
    committed_files(repository, "HEAD")
}

/// The files of `.longhaul/` as a commit has them.
pub(crate) fn committed_files(
    repository: &Repository,
    commit: &str,
) -> Result<(Vec<FolderFile>, String), Error> {
    let source = format!("{FOLDER} of {commit} in {}", repository.common_dir.display());
    match longhaul_git::read_folder(repository, commit, FOLDER) {
        Ok(entries) => Ok((entries.into_iter().map(committed).collect(), source)),
        // A repository without a commit has nothing to trust.
        Err(longhaul_git::Error::RevisionMissing { .. }) => Ok((Vec::new(), source)),
        Err(error) => Err(error.into()),
    }
}

/// Stands for a folder that cannot be hashed. No folder has this hash, so that a session which started beside one gains
/// nothing when the folder is mended or taken away.
pub(crate) fn unhashable() -> Digest {
    let nameless = FolderFile { path: Vec::new(), kind: FileKind::Regular, bytes: Vec::new() };
    folder_hash(&[nameless]).expect("there is a file")
}

/// The hash of what is there now; `None` if there is nothing.
pub(crate) fn present_hash(workspace: &Workspace) -> Result<Option<Digest>, Error> {
    let path = workspace.checkout.as_ref().unwrap_or(&workspace.common_dir);
    let located = locate(Path::new(path))?;
    Ok(folder_hash(&folder_files(&located.repository)?.0))
}

fn committed(entry: longhaul_git::FolderEntry) -> FolderFile {
    let kind = match entry.mode {
        Mode::Regular => FileKind::Regular,
        Mode::Executable => FileKind::Executable,
        Mode::Symlink => FileKind::Symlink,
    };
    FolderFile { path: entry.path.as_os_str().as_bytes().to_vec(), kind, bytes: entry.bytes }
}

fn read_checkout(folder: &Path) -> Result<Vec<FolderFile>, Error> {
    let mut walk = Walk { top: folder, files: Vec::new(), bytes: 0 };
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(found) if !found.is_dir() => {
            return Err(refuse(folder, "it is not a folder; put a real folder there"));
        }
        _ => walk.folder(folder)?,
    }
    Ok(walk.files)
}

struct Walk<'a> {
    top: &'a Path,
    files: Vec<FolderFile>,
    bytes: u64,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> Result<(), Error> {
        let unreadable = |source| Error::ReadFile { path: folder.to_owned(), source };
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let found = fs::symlink_metadata(&path).map_err(unreadable)?;
            if found.is_dir() {
                self.folder(&path)?;
            } else {
                self.file(&path, &found)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, found: &fs::Metadata) -> Result<(), Error> {
        let unreadable = |source| Error::ReadFile { path: path.to_owned(), source };
        self.bytes += found.len();
        if self.bytes > LARGEST_FOLDER_BYTES || self.files.len() >= MOST_FILES {
            return Err(refuse(self.top, "it holds more than 16 MB or 5000 files; take large files out"));
        }
        let (kind, bytes) = if found.is_symlink() {
            (FileKind::Symlink, fs::read_link(path).map_err(unreadable)?.as_os_str().as_bytes().to_vec())
        } else if found.is_file() {
            let executable = found.permissions().mode() & 0o100 != 0;
            let kind = if executable { FileKind::Executable } else { FileKind::Regular };
            (kind, fs::read(path).map_err(unreadable)?)
        } else {
            return Err(refuse(path, "it is neither a file nor a link; take it out"));
        };
        let relative = path.strip_prefix(self.top).expect("we walked down from the top");
        self.files.push(FolderFile { path: relative.as_os_str().as_bytes().to_vec(), kind, bytes });
        Ok(())
    }
}

fn refuse(path: &Path, problem: &str) -> Error {
    Error::Untrustable { path: path.to_owned(), problem: problem.to_owned() }
}

/// What a person should see before they trust it.
pub(crate) fn candidate(located: &Located, name: String) -> Result<TrustCandidate, Error> {
    let (mut files, source) = folder_files(&located.repository)?;
    let shown: PathBuf = located
        .repository
        .checkout
        .clone()
        .or_else(|| located.repository.main_checkout.clone())
        .unwrap_or_else(|| located.repository.common_dir.clone());
    let hash = folder_hash(&files).ok_or_else(|| Error::NothingToTrust(shown.clone()))?;
    // A person must not find out after the fact that nothing works here any more.
    crate::config::workspace_layer(&shown, &files, TrustState::Trusted)?;
    files.sort();
    let listing = files.iter().map(FolderFile::listed).collect();
    let files = files.into_iter().map(|file| TrustFile {
        path: String::from_utf8_lossy(&file.path).into_owned(),
        bytes: file.bytes.len() as u64,
        executable: file.kind == FileKind::Executable,
        link: (file.kind == FileKind::Symlink).then(|| String::from_utf8_lossy(&file.bytes).into_owned()),
    });
    Ok(TrustCandidate { workspace: located.id, name, source, hash, files: files.collect(), listing })
}
