//! Checkouts in which programs of others run: what is committed is there whenever one begins.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use longhaul_git::{CheckoutKind, Watched};

use crate::support::{Place, commit, write};
use crate::work::Work;

fn watched() -> (Work, Watched) {
    let place = Place::new();
    let main = place.repository("project");
    write(&main, "tests/run.sh", b"exit 1\n");
    write(&main, "tests/lib/a.sh", b"one\n");
    write(&main, "text.txt", b"one\ntwo\n");
    write(&main, ".gitattributes", b"*.txt text eol=crlf\n");
    write(&main, ".gitignore", b"ignored\n");
    commit(&main);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    let watched = work.snapshots().watch("ses_test-merge", work.top(), &work.base.commit).unwrap();
    (work, watched)
}

fn put_back(work: &Work, watched: &Watched) -> Vec<String> {
    let mut found = work.snapshots().put_back(watched).unwrap();
    found.sort();
    found.into_iter().map(|path| path.display().to_string()).collect()
}

fn read(work: &Work, name: &str) -> String {
    fs::read_to_string(work.top().join(name)).unwrap()
}

#[test]
fn committed_files_are_put_back_however_they_were_changed() {
    let (work, watched) = watched();
    let top = work.top();
    assert_eq!(put_back(&work, &watched), [""; 0]);
    write(top, "tests/run.sh", b"exit 0\n");
    write(top, "text.txt", b"other\n");
    fs::set_permissions(top.join(".gitignore"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(put_back(&work, &watched), [".gitignore", "tests/run.sh", "text.txt"]);
    assert_eq!(
        (read(&work, "tests/run.sh").as_str(), read(&work, "text.txt").as_str()),
        ("exit 1\n", "one\r\ntwo\r\n")
    );
    // A folder that is a link now, and a file that is a folder.
    let outside = work.place.folder("outside");
    write(&outside, "run.sh", b"exit 0\n");
    write(&outside, "lib/a.sh", b"theirs\n");
    fs::remove_dir_all(top.join("tests")).unwrap();
    symlink(&outside, top.join("tests")).unwrap();
    fs::remove_file(top.join("text.txt")).unwrap();
    write(top, "text.txt/inner", b"x");
    put_back(&work, &watched);
    assert_eq!(read(&work, "tests/run.sh"), "exit 1\n");
    assert_eq!(read(&work, "text.txt"), "one\r\ntwo\r\n");
    assert_eq!(fs::read_to_string(outside.join("run.sh")).unwrap(), "exit 0\n", "nothing is written outside");
    assert_eq!(put_back(&work, &watched), [""; 0]);
}

#[test]
fn what_comes_beside_them_goes_unless_it_was_made_before_or_is_ignored() {
    let (work, mut watched) = watched();
    let top = work.top();
    write(top, "made/by/set-up", b"x");
    write(top, "ignored", b"x");
    work.snapshots().accept_made(&mut watched).unwrap();
    assert_eq!(put_back(&work, &watched), [""; 0]);
    // One that hides itself and others.
    write(top, "tests/.gitignore", b"*\n");
    write(top, "tests/conftest.py", b"x");
    write(top, "made/more", b"x");
    assert_eq!(put_back(&work, &watched), ["made/more", "tests/.gitignore", "tests/conftest.py"]);
    let is_there = |name: &str| Path::new(top).join(name).exists();
    assert!(is_there("made/by/set-up") && is_there("ignored") && !is_there("tests/conftest.py"));
    assert_eq!(put_back(&work, &watched), [""; 0]);
    let index: PathBuf = work.snapshots().folder().join("longhaul/ses_test-merge.watched");
    assert!(index.exists());
    drop(watched);
    assert!(!index.exists());
}
