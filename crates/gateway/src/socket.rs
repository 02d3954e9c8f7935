//! The socket of a session: in a folder of our own, complete before it has its name, gone with whoever served it.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;

/// How long a socket that nobody serves is left alone: whoever makes one may be about to.
const STALE: Duration = Duration::from_mins(1);

const EXTENSION: &str = "sock";

/// A socket that is served; its name goes when this does.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    identity: (u64, u64),
}

/// Takes the name of a socket, whoever had it before: there is one driver at a time, and it is us.
pub(crate) fn open(path: &Path) -> Result<(UnixListener, Socket), Error> {
    let failed = |doing| move |source| Error::Socket { doing, path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("/"));
    own_folder(folder)?;
    clear_stale(folder);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let early = format!("{name}.{}", std::process::id());
    let listener = bind(folder, &early).map_err(failed("listen on"))?;
    let early = folder.join(early);
    let opened = fs::set_permissions(&early, Permissions::from_mode(0o600))
        .and_then(|()| fs::symlink_metadata(&early))
        .and_then(|found| fs::rename(&early, path).map(|()| (found.dev(), found.ino())));
    let identity = opened.map_err(failed("name"))?;
    Ok((listener, Socket { path: path.to_owned(), identity }))
}

impl Socket {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Nobody but us may look into it.
fn own_folder(folder: &Path) -> Result<(), Error> {
    let failed = |doing| move |source| Error::Socket { doing, path: folder.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed("make"))?;
    let found = fs::metadata(folder).map_err(failed("look at"))?;
    if found.uid() != rustix::process::getuid().as_raw() {
        return Err(Error::NotOurs { path: folder.to_owned() });
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(failed("close"))?;
    }
    Ok(())
}

/// Through an open folder, because the name of a socket may have a hundred bytes and no more.
#[cfg(target_os = "linux")]
fn bind(folder: &Path, name: &str) -> io::Result<UnixListener> {
    let opened = fs::File::open(folder)?;
    let through = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd())).join(name);
    let _ = fs::remove_file(&through);
    UnixListener::bind(through)
}

#[cfg(not(target_os = "linux"))]
fn bind(folder: &Path, name: &str) -> io::Result<UnixListener> {
    let _ = fs::remove_file(folder.join(name));
    UnixListener::bind(folder.join(name))
}

/// Sockets whose servers were killed. Their names are free for whoever comes, but nobody may come for years.
fn clear_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let is_old =
            |found: &fs::Metadata| found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE));
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let is_ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("s-"));
        let is_socket = path.to_string_lossy().contains(&format!(".{EXTENSION}"));
        if is_ours && is_socket && is_old(&found) && is_refused(&path) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_refused(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_for_us_alone_and_its_name_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run/s-a.sock");
        let (_listener, socket) = open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        UnixStream::connect(&path).unwrap();
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn a_name_that_was_left_behind_is_taken_and_one_that_was_taken_from_us_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s-a.sock");
        let (listener, first) = open(&path).unwrap();
        drop(listener);
        assert!(is_refused(&path), "as if its server had been killed");
        let (_listener, second) = open(&path).unwrap();
        drop(first);
        UnixStream::connect(&path).unwrap();
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn names_of_the_dead_are_cleared_and_those_of_the_living_stay() {
        let home = tempfile::tempdir().unwrap();
        let [dead, fresh, living, foreign] =
            ["s-dead.sock", "s-fresh.sock", "s-living.sock", "poke.sock"].map(|name| home.path().join(name));
        for path in [&dead, &fresh, &foreign] {
            drop(UnixListener::bind(path).unwrap());
        }
        let _listener = UnixListener::bind(&living).unwrap();
        let long_ago = std::time::SystemTime::now() - 2 * STALE;
        for path in [&dead, &living, &foreign] {
            let times = rustix::fs::Timestamps {
                last_access: timespec(long_ago),
                last_modification: timespec(long_ago),
            };
            rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty()).unwrap();
        }
        clear_stale(home.path());
        assert_eq!([&dead, &fresh, &living, &foreign].map(|path| path.exists()), [false, true, true, true]);
    }

    fn timespec(time: std::time::SystemTime) -> rustix::fs::Timespec {
        let since = time.duration_since(std::time::UNIX_EPOCH).unwrap();
        rustix::fs::Timespec { tv_sec: i64::try_from(since.as_secs()).unwrap(), tv_nsec: 0 }
    }

    #[test]
    fn a_folder_far_down_is_no_obstacle() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a".repeat(90)).join("s-a.sock");
        let (_listener, _socket) = open(&path).unwrap();
        assert!(path.exists());
    }
}
