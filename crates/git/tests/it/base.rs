//! Where work starts: fetched, and without moving anything of the person's.

use std::fs;

use longhaul_git::{Error, Freshness, secure_base};

use crate::support::{Place, commit, found, git, write};
use crate::work::SESSION;

fn refs(path: &std::path::Path) -> String {
    git(
        path,
        ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes", "refs/tags"],
    )
}

#[test]
fn the_newest_commit_of_the_remote_is_fetched_and_no_branch_moves() {
    let place = Place::new();
    let upstream = place.repository("upstream");
    git(&place.path, ["clone", "--quiet", "upstream", "project"]);
    write(&upstream, "new", b"new");
    let newest = commit(&upstream);
    git(&upstream, ["tag", "v1"]);
    let project = place.path.join("project");
    let before = refs(&project);
    let base = secure_base(&found(&project), SESSION, None).unwrap();
    assert_eq!((base.branch.as_str(), base.commit.as_str()), ("main", newest.as_str()));
    assert_eq!(base.freshness, Freshness::Fetched { remote: "origin".into() });
    assert_eq!(refs(&project), before);
    assert!(!project.join(".git/FETCH_HEAD").exists());
    assert_eq!(git(&project, ["rev-parse", "refs/longhaul/ses_test"]), newest);
}

#[test]
fn a_remote_that_cannot_be_asked_is_said_and_the_last_known_commit_taken() {
    let place = Place::new();
    let upstream = place.repository("upstream");
    git(&place.path, ["clone", "--quiet", "upstream", "project"]);
    let known = git(&upstream, ["rev-parse", "HEAD"]);
    fs::rename(&upstream, place.path.join("moved")).unwrap();
    let base = secure_base(&found(&place.path.join("project")), SESSION, None).unwrap();
    assert_eq!(base.commit.as_str(), known);
    assert!(matches!(base.freshness, Freshness::Stale { .. }), "{base:?}");
}

#[test]
fn without_a_remote_the_branch_that_is_here_counts() {
    let place = Place::new();
    let project = place.repository("project");
    let main = git(&project, ["rev-parse", "HEAD"]);
    git(&project, ["checkout", "--quiet", "-b", "feature"]);
    let feature = commit(&project);
    let repository = found(&project);
    let base = secure_base(&repository, SESSION, None).unwrap();
    assert_eq!((base.branch.as_str(), base.commit.as_str()), ("main", main.as_str()));
    assert_eq!(base.freshness, Freshness::NoRemote);
    let base = secure_base(&repository, SESSION, Some("feature")).unwrap();
    assert_eq!((base.branch.as_str(), base.commit.as_str()), ("feature", feature.as_str()));
    let missing = secure_base(&repository, SESSION, Some("nowhere"));
    assert!(matches!(missing, Err(Error::RevisionMissing { .. })), "{missing:?}");
}

#[test]
fn a_repository_without_a_commit_has_no_base() {
    let place = Place::new();
    let path = place.folder("empty");
    git(&path, ["init", "--quiet"]);
    let base = secure_base(&found(&path), SESSION, None);
    assert!(matches!(base, Err(Error::RevisionMissing { .. })), "{base:?}");
}
