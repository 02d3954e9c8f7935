//! The checkout as the tools see it: every path is resolved by the kernel, beneath its top, at the moment of use.
//!
//! Looking at a path first and opening it afterwards would leave a moment in which a link can be put in its way.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, renameat, unlinkat,
};
use rustix::io::Errno;

use super::{Broken, ToolError, complain};

/// Larger files are not for an agent's eyes.
const MOST_FILE_BYTES: u64 = 16 * 1024 * 1024;
const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// What may be done with the files of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    Change,
    /// They are read, and walls hold commands to it.
    ReadBehindWalls,
    /// They are read, and nothing would hold a command to it.
    Read,
}

/// A checkout, open.
#[derive(Debug)]
pub struct Room {
    top: OwnedFd,
    path: PathBuf,
    rights: Rights,
}

impl Room {
    pub fn open(path: &Path) -> Result<Self, Broken> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let broken = |error: Errno| Broken {
            what: format!("cannot open the checkout `{}`", path.display()),
            source: error.into(),
        };
        let path = path.canonicalize().map_err(|source| Broken {
            what: format!("cannot open the checkout `{}`", path.display()),
            source,
        })?;
        let top = openat(CWD, &path, flags, Mode::empty()).map_err(broken)?;
        Ok(Self { top, path, rights: Rights::Change })
    }

    /// The same for somebody who may do this with it.
    #[must_use]
    pub fn with_rights(self, rights: Rights) -> Self {
        Self { rights, ..self }
    }

    pub(super) const fn rights(&self) -> Rights {
        self.rights
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path as an agent wrote it, from the top of the checkout. Absolute ones are taken if they lie in it.
    pub(super) fn relative(&self, text: &str) -> Result<PathBuf, ToolError> {
        if text.is_empty() || text.contains('\0') {
            return Err(complain("give the path of a file in the checkout, such as `src/main.rs`"));
        }
        let path = Path::new(text);
        let inside = if path.is_absolute() { path.strip_prefix(&self.path).ok() } else { Some(path) };
        let inside = inside.ok_or_else(|| outside(text))?;
        let mut clean = PathBuf::new();
        for part in inside.components() {
            match part {
                Component::Normal(name) => clean.push(name),
                Component::CurDir => {}
                Component::ParentDir if clean.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(outside(text));
                }
            }
        }
        if clean.components().next().is_some_and(|first| first.as_os_str() == ".git") {
            return Err(complain("`.git` is not for tools; use `bash` with git for what you need of it"));
        }
        Ok(if clean.as_os_str().is_empty() { PathBuf::from(".") } else { clean })
    }

    /// All of a regular file.
    pub(super) fn read(&self, path: &Path) -> Result<Vec<u8>, ToolError> {
        let file = self.open_file(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
        let found = fstat(&file).map_err(|error| failed("read", path, error))?;
        let size = u64::try_from(found.st_size).unwrap_or(u64::MAX);
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile if size <= MOST_FILE_BYTES => {}
            FileType::RegularFile => {
                return Err(complain(format!(
                    "`{}` has {size} bytes; look into it with `grep` or `bash`",
                    path.display()
                )));
            }
            FileType::Directory => {
                return Err(complain(format!(
                    "`{}` is a folder; `glob` lists what is in it",
                    path.display()
                )));
            }
            _ => return Err(complain(format!("`{}` is no regular file", path.display()))),
        }
        let mut bytes = Vec::new();
        let read = File::from(file).take(MOST_FILE_BYTES).read_to_end(&mut bytes);
        read.map_err(|source| Broken { what: format!("cannot read `{}`", path.display()), source })?;
        Ok(bytes)
    }

    /// Puts a file in place as a whole: nobody ever sees half of it.
    pub(super) fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), ToolError> {
        let name = path.file_name().ok_or_else(|| complain("give the path of a file, not of a folder"))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = self.folder(parent)?;
        let mode = match self.open_file(path, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(there) => {
                let found = fstat(&there).map_err(|error| failed("look at", path, error))?;
                match FileType::from_raw_mode(found.st_mode) {
                    FileType::RegularFile => Mode::from_raw_mode(found.st_mode & 0o777),
                    FileType::Symlink => {
                        return Err(complain(format!(
                            "`{}` is a link; write to the file that it names",
                            path.display()
                        )));
                    }
                    _ => return Err(complain(format!("`{}` is no regular file", path.display()))),
                }
            }
            Err(ToolError::Complaint(_)) => Mode::from_raw_mode(0o644),
            Err(broken) => return Err(broken),
        };
        let mut scratch = name.to_os_string();
        scratch.push(format!(".longhaul-{}", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&folder, &scratch, flags, mode).map_err(|error| failed("write", path, error))?;
        let written = rustix::fs::fchmod(&file, mode)
            .map_err(io::Error::from)
            .and_then(|()| File::from(file).write_all(bytes));
        let put = written.and_then(|()| renameat(&folder, &scratch, &folder, name).map_err(io::Error::from));
        put.map_err(|source| {
            let _ = unlinkat(&folder, &scratch, AtFlags::empty());
            ToolError::from(Broken { what: format!("cannot write `{}`", path.display()), source })
        })
    }

    /// A folder, made with all above it if it is not there.
    fn folder(&self, path: &Path) -> Result<OwnedFd, ToolError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let mut sofar = PathBuf::from(".");
        for part in path.components() {
            sofar.push(part);
            match self.open_file(&sofar, flags, Mode::empty()) {
                Ok(_) => {}
                Err(ToolError::Complaint(_)) => {
                    let above =
                        self.open_file(sofar.parent().unwrap_or(Path::new(".")), flags, Mode::empty())?;
                    let made = mkdirat(above, part.as_os_str(), Mode::from_raw_mode(0o755));
                    made.map_err(|error| failed("make", &sofar, error))?;
                }
                Err(broken) => return Err(broken),
            }
        }
        self.open_file(path, flags, Mode::empty())
    }

    fn open_file(&self, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd, ToolError> {
        let opened = openat2(&self.top, path, flags | OFlags::CLOEXEC, mode, BENEATH);
        opened.map_err(|error| failed("open", path, error))
    }
}

fn failed(verb: &str, path: &Path, error: Errno) -> ToolError {
    let shown = path.display();
    match error {
        Errno::NOENT => complain(format!("there is no `{shown}`; `glob` shows what there is")),
        Errno::XDEV | Errno::LOOP => outside(&shown.to_string()),
        Errno::NOTDIR => complain(format!("a part of `{shown}` is a file and no folder")),
        Errno::EXIST => complain(format!("`{shown}` is there already, and is no folder")),
        Errno::ACCESS | Errno::PERM => complain(format!("`{shown}` may not be touched: {error}")),
        Errno::NAMETOOLONG | Errno::INVAL => complain(format!("`{shown}` is no name for a file")),
        other => Broken { what: format!("cannot {verb} `{shown}`"), source: other.into() }.into(),
    }
}

fn outside(text: &str) -> ToolError {
    complain(format!("`{text}` leads out of the checkout; tools reach what lies in it and nothing else"))
}
