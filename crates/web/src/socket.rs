//! The Unix socket of the control API: complete before it has its name, gone with whoever served it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket that is served; its name goes when this does.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    identity: (u64, u64),
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another daemon may have taken the name meanwhile.
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Takes the name of the socket: whoever calls is the one daemon that there is.
pub(crate) fn open(path: &Path) -> io::Result<(UnixListener, Socket)> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    own_folder(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let early = folder.join(format!("{name}.{}", std::process::id()));
    let _ = fs::remove_file(&early);
    let listener = through(&early, |early| UnixListener::bind(early))?;
    fs::set_permissions(&early, Permissions::from_mode(0o600))?;
    let found = fs::symlink_metadata(&early)?;
    fs::rename(&early, path)?;
    Ok((listener, Socket { path: path.to_owned(), identity: (found.dev(), found.ino()) }))
}

pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    through(path, |path| UnixStream::connect(path))
}

/// Nobody but us may look into it.
fn own_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let found = fs::metadata(folder)?;
    if found.uid() != rustix::process::getuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder of sockets is not ours"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Through an open folder, because the name of a socket may have a hundred bytes and no more.
fn through<T>(path: &Path, use_path: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    const LONGEST: usize = 100;
    if path.as_os_str().len() <= LONGEST || cfg!(not(target_os = "linux")) {
        return use_path(path);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = fs::File::open(folder)?;
    use_path(&PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(name))
}
