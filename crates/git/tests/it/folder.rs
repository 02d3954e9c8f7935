//! The files of a folder as a commit holds them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use longhaul_git::{Error, FOLDER_LIMIT_BYTES, FolderEntry, Mode, read_folder};

use crate::support::{Place, commit, found, git, write};

const CONFIG: &[u8] = b"name: demo\n";

fn entry(path: impl Into<PathBuf>, mode: Mode, bytes: &[u8]) -> FolderEntry {
    FolderEntry { path: path.into(), mode, bytes: bytes.to_vec() }
}

#[test]
fn files_links_and_modes_come_as_they_were_committed() {
    let place = Place::new();
    let top = place.repository("project");
    write(&top, ".longhaul/bin/check", b"#!/bin/sh\n");
    fs::set_permissions(top.join(".longhaul/bin/check"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../outside", top.join(".longhaul/link")).unwrap();
    write(&top, ".longhaul/empty", b"");
    write(&top, ".longhaul/raw", b"\0\n\xff\r\n");
    write(&top, ".longhaul/same", CONFIG);
    write(&top, ".longhaul.yml", b"beside");
    write(&top, "src/main.rs", b"elsewhere");
    commit(&top);
    let expected = vec![
        entry("bin/check", Mode::Executable, b"#!/bin/sh\n"),
        entry("config.yml", Mode::Regular, CONFIG),
        entry("empty", Mode::Regular, b""),
        entry("link", Mode::Symlink, b"../outside"),
        entry("raw", Mode::Regular, b"\0\n\xff\r\n"),
        entry("same", Mode::Regular, CONFIG),
    ];
    assert_eq!(read_folder(&found(&top), "HEAD", ".longhaul").unwrap(), expected);
    assert_eq!(read_folder(&found(&top), "HEAD", ".longhaul/").unwrap(), expected);
}

#[test]
fn a_bare_repository_is_read_without_a_checkout() {
    let place = Place::new();
    place.repository("project");
    git(&place.path, ["clone", "--quiet", "--bare", "project", "project.git"]);
    let repository = found(&place.path.join("project.git"));
    assert_eq!(
        read_folder(&repository, "HEAD", ".longhaul").unwrap(),
        vec![entry("config.yml", Mode::Regular, CONFIG)]
    );
}

#[test]
fn the_commit_is_read_and_not_the_checkout_or_the_index() {
    let place = Place::new();
    let top = place.repository("project");
    write(&top, ".longhaul/config.yml", b"changed\n");
    write(&top, ".longhaul/new.yml", b"new\n");
    git(&top, ["add", "--all"]);
    let repository = found(&top.join(".longhaul"));
    assert_eq!(
        read_folder(&repository, "HEAD", ".longhaul").unwrap(),
        vec![entry("config.yml", Mode::Regular, CONFIG)]
    );
}

#[test]
fn filters_that_a_repository_configures_do_not_touch_the_bytes() {
    let place = Place::new();
    let top = place.repository("project");
    write(&top, ".gitattributes", b"*.yml text eol=crlf ident\n");
    write(&top, ".longhaul/config.yml", b"id: $Id$\n");
    commit(&top);
    let entries = read_folder(&found(&top), "HEAD", ".longhaul").unwrap();
    assert_eq!(entries, vec![entry("config.yml", Mode::Regular, b"id: $Id$\n")]);
}

#[test]
fn names_with_newlines_tabs_quotes_and_other_bytes_are_kept() {
    let place = Place::new();
    let top = place.repository("project");
    let names = [&b"a\nb"[..], b"c\td", b"e\"f", b"g\xff", b"h i"];
    for name in names {
        write(&top, PathBuf::from("-odd *[folder]").join(OsStr::from_bytes(name)), name);
    }
    write(&top, "-odd x/other", b"must not match");
    commit(&top);
    let expected: Vec<_> =
        names.iter().map(|name| entry(OsStr::from_bytes(name), Mode::Regular, name)).collect();
    assert_eq!(read_folder(&found(&top), "HEAD", "-odd *[folder]").unwrap(), expected);
}

#[test]
fn a_folder_that_is_not_there_is_empty_and_so_is_a_file_of_that_name() {
    let place = Place::new();
    let top = place.repository("project");
    write(&top, "file", b"content");
    commit(&top);
    let repository = found(&top);
    assert_eq!(read_folder(&repository, "HEAD", "missing").unwrap(), Vec::new());
    assert_eq!(read_folder(&repository, "HEAD", "file").unwrap(), Vec::new());
}

#[test]
fn a_commit_that_is_not_there_is_told_from_an_empty_folder() {
    let place = Place::new();
    git(&place.path, ["init", "--quiet"]);
    let error = read_folder(&found(&place.path), "HEAD", ".longhaul").unwrap_err();
    assert!(matches!(error, Error::RevisionMissing { .. }), "{error:?}");
}

#[test]
fn a_folder_above_the_limit_is_refused_whole() {
    let place = Place::new();
    let top = place.repository("project");
    let half = vec![b'x'; usize::try_from(FOLDER_LIMIT_BYTES / 2).unwrap()];
    write(&top, "large/a", &half);
    write(&top, "large/b", &half);
    commit(&top);
    let entries = read_folder(&found(&top), "HEAD", "large").unwrap();
    assert_eq!(entries, vec![entry("a", Mode::Regular, &half), entry("b", Mode::Regular, &half)]);

    write(&top, "large/c", b"y");
    commit(&top);
    let error = read_folder(&found(&top), "HEAD", "large").unwrap_err();
    assert!(matches!(error, Error::FolderTooLarge { .. }), "{error:?}");
}

#[test]
fn a_submodule_in_the_folder_is_refused() {
    let place = Place::new();
    let top = place.repository("project");
    let id = git(&top, ["rev-parse", "HEAD"]);
    git(&top, ["update-index", "--add", "--cacheinfo", &format!("160000,{id},.longhaul/sub")]);
    git(&top, ["commit", "--quiet", "--message=a submodule"]);
    let error = read_folder(&found(&top), "HEAD", ".longhaul").unwrap_err();
    assert!(matches!(&error, Error::UnsupportedEntry { mode, .. } if mode == "160000"), "{error:?}");
}

#[test]
fn a_replaced_object_does_not_stand_in_for_the_one_that_was_committed() {
    let place = Place::new();
    let top = place.repository("project");
    write(&top, "other", b"name: forged\n");
    commit(&top);
    git(&top, ["replace", "HEAD:.longhaul/config.yml", "HEAD:other"]);
    assert_eq!(git(&top, ["show", "HEAD:.longhaul/config.yml"]), "name: forged");
    let entries = read_folder(&found(&top), "HEAD", ".longhaul").unwrap();
    assert_eq!(entries, vec![entry("config.yml", Mode::Regular, CONFIG)]);
}
