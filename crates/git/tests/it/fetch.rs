//! Fetching from repositories that others made.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use longhaul_git::{Error, Remote, fetch, has_path, read_folder};

use crate::support::{Place, commit, git, write};

fn remote(address: &std::path::Path, reference: Option<&str>) -> Remote {
    Remote::new(address.to_str().expect("a temporary folder has a plain name"), reference)
        .expect("a path is an address")
}

#[test]
fn one_commit_comes_in_without_its_history_and_can_be_read() {
    let place = Place::new();
    let theirs = place.repository("theirs");
    let first = git(&theirs, ["rev-parse", "HEAD"]);
    write(&theirs, "workflows/a.yml", b"one\n");
    let second = commit(&theirs);
    let ours = place.path.join("kept/ours.git");

    let (repository, id) = fetch(&remote(&theirs, None), &ours).unwrap();
    assert_eq!(id.as_str(), second);
    let files = read_folder(&repository, id.as_str(), "workflows").unwrap();
    assert_eq!(files.iter().map(|file| &*file.bytes).collect::<Vec<_>>(), [b"one\n"]);
    assert!(has_path(&repository, id.as_str(), "workflows/a.yml").unwrap());
    assert!(has_path(&repository, id.as_str(), "workflows").unwrap());
    assert!(!has_path(&repository, id.as_str(), "workflows/b.yml").unwrap());
    assert!(read_folder(&repository, &first, "workflows").is_err(), "the history stays away");
}

#[test]
fn a_later_fetch_moves_on_and_the_earlier_commit_stays_readable() {
    let place = Place::new();
    let theirs = place.repository("theirs");
    let ours = place.path.join("ours.git");
    let (_, first) = fetch(&remote(&theirs, Some("main")), &ours).unwrap();
    write(&theirs, "workflows/a.yml", b"two\n");
    commit(&theirs);
    let (repository, second) = fetch(&remote(&theirs, Some("main")), &ours).unwrap();
    assert_ne!(first, second);
    assert!(!has_path(&repository, first.as_str(), "workflows").unwrap());
    assert!(has_path(&repository, second.as_str(), "workflows").unwrap());
}

#[test]
fn a_tag_or_a_branch_is_fetched_by_its_name() {
    let place = Place::new();
    let theirs = place.repository("theirs");
    git(&theirs, ["tag", "--annotate", "--message=a tag", "v1"]);
    let tagged = git(&theirs, ["rev-parse", "HEAD"]);
    commit(&theirs);
    let (_, id) = fetch(&remote(&theirs, Some("v1")), &place.path.join("ours.git")).unwrap();
    assert_eq!(id.as_str(), tagged);
    let missing = fetch(&remote(&theirs, Some("v2")), &place.path.join("other.git")).unwrap_err();
    assert!(matches!(missing, Error::FetchFailed { .. }), "{missing:?}");
}

#[test]
fn what_is_not_there_is_refused_with_what_git_said() {
    let place = Place::new();
    let error = fetch(&remote(&place.path.join("nowhere"), None), &place.path.join("ours.git")).unwrap_err();
    assert!(matches!(&error, Error::FetchFailed { message, .. } if message.contains("nowhere")), "{error:?}");
}

#[test]
fn hooks_of_either_side_do_not_run() {
    let place = Place::new();
    let theirs = place.repository("theirs");
    let ours = place.path.join("ours.git");
    fetch(&remote(&theirs, None), &ours).unwrap();
    let canary = place.path.join("canary");
    for hooks in [ours.join("hooks"), theirs.join(".git/hooks")] {
        fs::create_dir_all(&hooks).unwrap();
        for name in ["reference-transaction", "post-checkout", "post-merge", "pre-auto-gc"] {
            let hook = hooks.join(name);
            fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", canary.display())).unwrap();
            fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    commit(&theirs);
    assert!(canary.exists(), "the bait must work on plain git");
    fs::remove_file(&canary).unwrap();
    fetch(&remote(&theirs, None), &ours).unwrap();
    assert!(!canary.exists());
}
