//! Branch and commit of a checkout.

use std::fs;

use longhaul_git::{Error, Head, ObjectId, head, resolve};

use crate::support::{Place, commit, found, git};

fn id(text: &str) -> ObjectId {
    ObjectId::parse(text).expect("git prints full ids here")
}

#[test]
fn a_branch_with_a_commit_is_named_with_it() {
    let place = Place::new();
    let top = place.repository("project");
    let first = git(&top, ["rev-parse", "HEAD"]);
    assert_eq!(head(&found(&top)).unwrap(), Head::Branch { name: "main".into(), commit: id(&first) });

    git(&top, ["checkout", "--quiet", "-b", "feature/größe"]);
    let second = commit(&top);
    let on_branch = head(&found(&top)).unwrap();
    assert_eq!(on_branch, Head::Branch { name: "feature/größe".into(), commit: id(&second) });
    assert_eq!(on_branch.branch(), Some("feature/größe"));
    assert_eq!(on_branch.commit(), Some(&id(&second)));
}

#[test]
fn a_branch_without_commits_is_unborn_even_if_another_lies_below_its_name() {
    let place = Place::new();
    let top = place.repository("project");
    git(&top, ["branch", "topic/sub"]);
    git(&top, ["symbolic-ref", "HEAD", "refs/heads/topic"]);
    assert_eq!(head(&found(&top)).unwrap(), Head::Unborn { branch: "topic".into() });
}

#[test]
fn a_detached_head_has_a_commit_and_no_branch() {
    let place = Place::new();
    let top = place.repository("project");
    git(&top, ["checkout", "--quiet", "--detach"]);
    let commit = id(&git(&top, ["rev-parse", "HEAD"]));
    let detached = head(&found(&top)).unwrap();
    assert_eq!(detached, Head::Detached { commit });
    assert_eq!(detached.branch(), None);
}

#[test]
fn each_worktree_has_its_own_head_and_a_bare_repository_has_one_too() {
    let place = Place::new();
    let top = place.repository("project");
    git(&top, ["worktree", "add", "--quiet", "-b", "side", "../tree"]);
    git(&place.path, ["clone", "--quiet", "--bare", "project", "project.git"]);
    let branch = |name: &str| head(&found(&place.path.join(name))).unwrap().branch().map(str::to_owned);
    assert_eq!(branch("project"), Some("main".into()));
    assert_eq!(branch("tree"), Some("side".into()));
    assert_eq!(branch("project.git"), Some("main".into()));
}

#[test]
fn ids_of_the_longer_kind_are_read() {
    let place = Place::new();
    git(&place.path, ["init", "--quiet", "--object-format=sha256"]);
    let commit = commit(&place.path);
    assert_eq!(commit.len(), 64);
    assert_eq!(head(&found(&place.path)).unwrap().commit(), Some(&id(&commit)));
}

#[test]
fn a_damaged_branch_is_not_taken_for_one_without_commits() {
    let place = Place::new();
    let top = place.repository("project");
    fs::write(top.join(".git/refs/heads/main"), "garbage\n").unwrap();
    let error = head(&found(&top)).unwrap_err();
    assert!(matches!(error, Error::Failed { .. }), "{error:?}");
}

#[test]
fn revisions_are_resolved_to_commits() {
    let place = Place::new();
    let top = place.repository("project");
    let first = git(&top, ["rev-parse", "HEAD"]);
    git(&top, ["tag", "--annotate", "--message=a tag", "v1"]);
    let second = commit(&top);
    let repository = found(&top);
    for (revision, commit) in [("HEAD", &second), ("main~1", &first), ("v1", &first), (&first[..8], &first)] {
        assert_eq!(resolve(&repository, revision).unwrap(), id(commit), "{revision}");
    }
}

#[test]
fn a_revision_that_names_no_commit_is_told_so() {
    let place = Place::new();
    let top = place.repository("project");
    let repository = found(&top);
    for revision in ["missing", "", "HEAD:.longhaul", "--help", "-x", "HEAD\0", "a\nb", "^HEAD"] {
        let error = resolve(&repository, revision).unwrap_err();
        assert!(matches!(error, Error::RevisionMissing { .. }), "{revision:?}: {error:?}");
    }
}
