//! Files and ports that a fresh checkout needs. Must never write outside the checkout or follow a link.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use longhaul_core::config::CopiedFile;
use longhaul_git::{Checkout, CheckoutKind, Repository};
use rustix::fs::OFlags;

use super::WorktreeError;
use crate::error::Error;

/// Whether a session may have files that are marked as secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretFiles {
    Give,
    Withhold,
}

/// What came of copying.
#[derive(Debug, Default)]
pub(super) struct Copied {
    pub(super) secrets: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// Copies files from the person's own checkout. One that is not there is said, one that is there stays.
pub(super) fn copy_files(
    main: &Repository,
    checkout: &Checkout,
    files: &[CopiedFile],
    secret_files: SecretFiles,
) -> Result<Copied, Error> {
    let mut copied = Copied::default();
    let Some(from_top) = main.main_checkout.as_deref().filter(|_| !files.is_empty()) else {
        return Ok(copied);
    };
    for file in files {
        if file.is_secret && secret_files == SecretFiles::Withhold {
            copied.warnings.push(format!("`{}` is secret and was not copied", file.to));
            continue;
        }
        if copy_file(from_top, &checkout.path, file, &mut copied.warnings)? && file.is_secret {
            copied.secrets.push(file.to.clone());
        }
    }
    if checkout.kind == CheckoutKind::Borrowed && !copied.secrets.is_empty() {
        exclude(checkout, &copied.secrets)?;
    }
    Ok(copied)
}

fn copy_file(
    from_top: &Path,
    to_top: &Path,
    file: &CopiedFile,
    warnings: &mut Vec<String>,
) -> Result<bool, Error> {
    let (from, to) = (from_top.join(&file.from), to_top.join(&file.to));
    refuse_links(from_top, &file.from)?;
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).expect("a flag of `open` fits");
    let mut source = match OpenOptions::new().read(true).custom_flags(nofollow).open(&from) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            warnings.push(format!("`{}` is not there to be copied", from.display()));
            return Ok(false);
        }
        Err(source) => return Err(Error::ReadFile { path: from, source }),
    };
    let found = source.metadata().map_err(|source| Error::ReadFile { path: from.clone(), source })?;
    if !found.is_file() {
        return Err(WorktreeError::Copy { path: from, problem: "it is not a file; name one" }.into());
    }
    let failed = |source| Error::WriteFile { path: to.clone(), source };
    refuse_links(to_top, &file.to)?;
    fs::create_dir_all(to.parent().expect("it lies below the top")).map_err(failed)?;
    refuse_links(to_top, &file.to)?;
    let mode = if file.is_secret { 0o600 } else { found.permissions().mode() & 0o777 };
    let mut target = match OpenOptions::new().write(true).create_new(true).mode(mode).open(&to) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return already_there(file, &to, warnings);
        }
        Err(source) => return Err(failed(source)),
    };
    io::copy(&mut source, &mut target).map_err(failed)?;
    Ok(true)
}

/// Made by an attempt before this one, or committed: neither is written over.
fn already_there(file: &CopiedFile, to: &Path, warnings: &mut Vec<String>) -> Result<bool, Error> {
    let is_file = fs::symlink_metadata(to).is_ok_and(|found| found.is_file());
    if !is_file {
        return Err(WorktreeError::Copy { path: to.to_owned(), problem: "something else is there" }.into());
    }
    warnings.push(format!("`{}` was there already and was left as it is", file.to));
    Ok(true)
}

/// A link on the way would lead out of the checkout.
fn refuse_links(top: &Path, path: &str) -> Result<(), WorktreeError> {
    let mut place = top.to_owned();
    for part in Path::new(path).components() {
        place.push(part);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                return Err(WorktreeError::Copy {
                    path: place,
                    problem: "it is a link; copy what it leads to",
                });
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Ok(())
}

/// Keeps secrets out of what an agent adds. In a linked worktree that file is everybody's, so it is left alone.
fn exclude(checkout: &Checkout, secrets: &[String]) -> Result<(), Error> {
    let path = checkout.git_dir.join("info/exclude");
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    for secret in secrets {
        let line = format!("/{}", escaped(secret));
        if !text.lines().any(|known| known == line) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    super::file::write_whole(&path, text.as_bytes())
}

fn escaped(path: &str) -> String {
    let special = |letter: char| "\\*?[]!# ".contains(letter);
    path.chars().flat_map(|letter| special(letter).then_some('\\').into_iter().chain([letter])).collect()
}

/// Ports that nobody listens on. All are held until the last is found, so that none is given twice.
pub(super) fn free_ports(count: u16) -> Result<Vec<u16>, Error> {
    let failed = |source| Error::ReadFile { path: "127.0.0.1".into(), source };
    let held: io::Result<Vec<TcpListener>> =
        (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).collect();
    let ports: io::Result<Vec<u16>> = held
        .map_err(failed)?
        .iter()
        .map(|listener| listener.local_addr().map(|address| address.port()))
        .collect();
    ports.map_err(failed)
}

/// Opens a file only if it is one, to be read whole.
pub(super) fn open_plain(path: &Path) -> Option<File> {
    let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).expect("a flag of `open` fits");
    let file = OpenOptions::new().read(true).custom_flags(nofollow).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn copied(from: &str, to: &str, is_secret: bool) -> CopiedFile {
        CopiedFile { from: from.into(), to: to.into(), is_secret }
    }

    #[test]
    fn files_are_copied_and_links_on_the_way_refused() {
        let home = tempfile::tempdir().unwrap();
        let (from, to) = (home.path().join("from"), home.path().join("to"));
        fs::create_dir_all(from.join("real")).unwrap();
        fs::create_dir_all(&to).unwrap();
        fs::write(from.join(".env"), "A=1").unwrap();
        fs::write(home.path().join("outside"), "theirs").unwrap();
        symlink("../outside", from.join("link")).unwrap();
        symlink("real", from.join("folder")).unwrap();
        symlink(home.path(), to.join("out")).unwrap();
        let mut warnings = Vec::new();
        let mut copy = |file: CopiedFile| copy_file(&from, &to, &file, &mut warnings);
        assert!(copy(copied(".env", "deep/.env", true)).unwrap());
        let mode = fs::metadata(to.join("deep/.env")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for (one, other) in [("link", "x"), ("folder/y", "x"), (".env", "out/x"), ("real", "x")] {
            assert!(copy(copied(one, other, false)).is_err(), "{one} to {other}");
        }
        assert!(!copy(copied("missing", "x", false)).unwrap());
        assert!(copy(copied(".env", "deep/.env", true)).unwrap());
        assert_eq!(warnings.len(), 2);
        assert!(!home.path().join("x").exists() && !to.join("x").exists());
    }

    #[test]
    fn ports_are_free_and_different() {
        let ports = free_ports(3).unwrap();
        assert!(ports.len() == 3 && ports[0] != ports[1] && ports[1] != ports[2]);
        for port in ports {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        }
    }
}
