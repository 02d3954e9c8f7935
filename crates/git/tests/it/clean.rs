//! Clean-up: what may go, what stays, and that nothing is lost in between.

use std::fs;

use longhaul_git::{ChangeKind, CheckoutKind, Fate, LeftOut, Merged, Stays};

use crate::support::{Place, commit, git, write};
use crate::work::{SESSION, Work, contents};

fn judge(work: &Work) -> Fate {
    work.snapshots().judge(&work.main, &work.wanted(), &work.base.branch).unwrap()
}

fn why(fate: Fate) -> Stays {
    match fate {
        Fate::Stays { because, .. } => because,
        Fate::MayGo { .. } => panic!("it may not go: {fate:?}"),
    }
}

fn merged(fate: Fate) -> Merged {
    match fate {
        Fate::MayGo { merged, .. } => merged,
        Fate::Stays { .. } => panic!("it may go: {fate:?}"),
    }
}

/// Two commits in the checkout, which touch one line and add a file.
fn two_commits(work: &Work) {
    write(work.top(), "a.txt", b"one\nTWO\nthree\n");
    work.commit();
    write(work.top(), "b.txt", b"b\n");
    work.commit();
}

fn squash_into_main(work: &Work) {
    let top = work.top().to_str().unwrap().to_owned();
    let project = work.project();
    git(&project, ["fetch", "--quiet", &top, "HEAD"]);
    git(&project, ["merge", "--quiet", "--squash", "FETCH_HEAD"]);
    commit(&project);
}

#[test]
fn files_that_no_commit_has_stay() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        write(work.top(), "new", b"new");
        fs::remove_file(work.top().join("a.txt")).unwrap();
        let Stays::Dirty { changes } = why(judge(&work)) else { panic!("it is dirty") };
        let changes: Vec<_> = changes.into_iter().map(|change| (change.kind, change.path)).collect();
        assert_eq!(changes, [(ChangeKind::Deleted, "a.txt".into()), (ChangeKind::Added, "new".into())]);
    }
}

#[test]
fn line_endings_that_attributes_ask_for_are_no_change() {
    let place = Place::new();
    let project = place.repository("project");
    write(&project, ".gitattributes", b"a.txt text eol=crlf\n");
    write(&project, "a.txt", b"one\ntwo\nthree\n");
    commit(&project);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    assert_eq!(fs::read(work.top().join("a.txt")).unwrap(), b"one\r\ntwo\r\nthree\r\n");
    assert_eq!(merged(judge(&work)), Merged::NothingToMerge);
}

#[test]
fn commits_that_the_base_does_not_have_stay() {
    let work = Work::borrowed();
    two_commits(&work);
    assert_eq!(why(judge(&work)), Stays::Unmerged);
}

#[test]
fn a_merge_is_seen_in_the_history_or_in_the_content() {
    let work = Work::borrowed();
    two_commits(&work);
    squash_into_main(&work);
    let into = "refs/heads/main".to_owned();
    assert_eq!(merged(judge(&work)), Merged::ByContent { into: into.clone() });
    // Also when the same lines were changed again later.
    write(&work.project(), "a.txt", b"one\nTWO and more\nthree\n");
    commit(&work.project());
    assert_eq!(merged(judge(&work)), Merged::ByContent { into: into.clone() });

    let work = Work::borrowed();
    two_commits(&work);
    let top = work.top().to_str().unwrap().to_owned();
    git(&work.project(), ["pull", "--quiet", &top, "HEAD"]);
    assert_eq!(merged(judge(&work)), Merged::ByHistory { into });
}

#[test]
fn half_of_it_in_the_base_is_not_a_merge() {
    let work = Work::borrowed();
    two_commits(&work);
    write(&work.project(), "a.txt", b"one\nTWO\nthree\n");
    commit(&work.project());
    assert_eq!(why(judge(&work)), Stays::Unmerged);
}

#[test]
fn what_a_snapshot_cannot_hold_stays() {
    let work = Work::borrowed();
    let inner = work.top().join("ignored");
    fs::create_dir_all(work.top().join("inner")).unwrap();
    git(&work.top().join("inner"), ["init", "--quiet"]);
    write(&work.top().join("inner"), "x", b"x");
    let left_out = vec![LeftOut::NestedHistory { path: "inner".into() }];
    assert_eq!(why(judge(&work)), Stays::NotKept { left_out });
    assert!(!inner.exists());
}

#[test]
fn what_may_go_is_removed_and_can_be_brought_back() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        two_commits(&work);
        squash_into_main(&work);
        let before = contents(work.top());
        let head = git(work.top(), ["rev-parse", "HEAD"]);
        let Fate::MayGo { snapshot, .. } = judge(&work) else { panic!("it is merged") };
        let bytes = work.snapshots().remove(&work.main, &work.wanted(), &snapshot).unwrap();
        assert!(bytes.is_some_and(|bytes| bytes > 0));
        assert_eq!(fs::read_dir(work.place.path.join("checkouts")).unwrap().count(), 0);
        assert_eq!(git(&work.project(), ["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
        work.collect_garbage();
        let (main, path, base) = (&work.main, work.top(), &work.base.commit);
        let branch = crate::work::BRANCH;
        let new = longhaul_git::NewCheckout { main, path, branch, base, kind };
        let kept = work.snapshots().find(SESSION, snapshot.id.as_str()).unwrap();
        work.snapshots().remake(SESSION, &new, &kept).unwrap();
        assert_eq!(contents(work.top()), before);
        assert_eq!(git(work.top(), ["rev-parse", "HEAD"]), head);
        assert_eq!(git(work.top(), ["status", "--porcelain"]), "");
    }
}

#[test]
fn what_was_written_after_it_was_judged_stays() {
    let work = Work::borrowed();
    let Fate::MayGo { snapshot, .. } = judge(&work) else { panic!("there is nothing in it") };
    write(work.top(), "late", b"late");
    assert_eq!(work.snapshots().remove(&work.main, &work.wanted(), &snapshot).unwrap(), None);
    assert_eq!(fs::read(work.top().join("late")).unwrap(), b"late");
}

#[test]
fn a_removal_that_was_cut_short_is_undone_or_finished() {
    let work = Work::borrowed();
    let folder = work.place.path.join("checkouts");
    fs::rename(work.top(), work.top().with_extension("leaving")).unwrap();
    write(&folder.join("other.gone"), "half", b"half");
    let (back, removed) = work.snapshots().settle_removals(&folder).unwrap();
    assert_eq!((back, removed), (vec![work.top().to_owned()], 1));
    assert_eq!(git(work.top(), ["status", "--porcelain"]), "");
    assert_eq!(work.snapshots().settle_removals(&folder).unwrap(), (Vec::new(), 0));
}
