//! Repositories of ours that borrow the objects of another. Must never write to the one that they borrow from.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// Says whose objects are borrowed, and puts right what somebody else may have said meanwhile.
pub(crate) fn borrow_objects(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    let file = git_dir.join("objects/info/alternates");
    let mut wanted = quoted(common_dir.join("objects").as_os_str()).into_vec();
    wanted.push(b'\n');
    // A link in its place would lead our reading and writing elsewhere.
    let is_plain = fs::symlink_metadata(&file).is_ok_and(|found| found.is_file());
    if is_plain && fs::read(&file).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    replace(&file, &wanted)
}

/// Where the history of a shallow repository ends, it ends for whoever borrows from it.
pub(crate) fn copy_shallow(git_dir: &Path, common_dir: &Path) -> Result<(), Error> {
    let (from, to) = (common_dir.join("shallow"), git_dir.join("shallow"));
    match fs::read(&from) {
        Ok(bytes) if fs::read(&to).is_ok_and(|found| found == bytes) => Ok(()),
        Ok(bytes) => replace(&to, &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::remove_file(&to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::file("remove", &to)(error)),
            _ => Ok(()),
        },
        Err(error) => Err(Error::file("read", &from)(error)),
    }
}

/// Puts a file in place whole or not at all.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = file.parent().expect("it lies in a folder of ours");
    fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
    let mut name = file.file_name().expect("it is named by us").to_owned();
    name.push(format!(".{}.new", unique()));
    let new = folder.join(name);
    let written = fs::File::create(&new).and_then(|mut made| {
        io::Write::write_all(&mut made, bytes)?;
        made.sync_all()?;
        fs::rename(&new, file)
    });
    written.map_err(Error::file("write", file))
}

/// A part of a name that nobody else uses at the same time.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// As git reads paths in lists of object folders: quoted, whatever they hold.
pub(crate) fn quoted(path: &OsStr) -> OsString {
    let mut text = vec![b'"'];
    for byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}
