//! Opening a path of a plan. The paths were looked up when the plan was made, so there is no link on any of them; one
//! that is there now was put there since, by somebody who wants another place bound.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

/// What is at this very path. What is opened stays what it is, whatever is put there afterwards.
pub(super) fn opened(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, path, flags, Mode::empty(), resolve)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_is_followed_neither_at_the_end_nor_on_the_way() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("outside/inner")).unwrap();
        symlink("outside", top.join("link")).unwrap();
        assert!(opened(&top.join("outside/inner")).is_ok());
        for path in ["link", "link/inner"] {
            let error = opened(&top.join(path)).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::ELOOP), "{path}: {error}");
        }
    }
}
