//! What a task would change and what a merge would give, read from git and from nobody's word.

use std::fs;
use std::path::PathBuf;

use longhaul_git::{
    CheckoutKind, FileStatus, Joined, MergeResult, NewCheckout, ObjectId, Proposal, discard, resolve,
};

use crate::support::{Place, commit, git, write};
use crate::work::Work;

fn files(work: &Work) -> Vec<(String, FileStatus, Option<u64>, Option<u64>)> {
    let change = work.snapshots().change(&work.wanted()).unwrap();
    let row = |file: &longhaul_git::FileChange| {
        (file.path.display().to_string(), file.status, file.added, file.removed)
    };
    change.files.iter().map(row).collect()
}

#[test]
fn a_change_is_told_file_by_file_with_untracked_ones_and_renames() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        assert_eq!(files(&work), []);
        let top = work.top();
        write(top, "a.txt", b"one\n2\nthree\nfour\n");
        write(top, "new\tname.txt", b"x\n");
        write(top, "binary", b"\0\x01\x02");
        write(top, "ignored", b"ignored");
        fs::create_dir_all(top.join("moved")).unwrap();
        fs::rename(top.join(".longhaul/config.yml"), top.join("moved/settings.yml")).unwrap();
        assert_eq!(
            files(&work),
            [
                ("a.txt".to_owned(), FileStatus::Modified, Some(2), Some(1)),
                ("binary".to_owned(), FileStatus::Added, None, None),
                ("moved/settings.yml".to_owned(), FileStatus::Renamed, Some(0), Some(0)),
                ("new\tname.txt".to_owned(), FileStatus::Added, Some(1), Some(0)),
            ]
        );
        fs::remove_file(top.join("a.txt")).unwrap();
        std::os::unix::fs::symlink("binary", top.join("a.txt")).unwrap();
        assert_eq!(files(&work)[0], ("a.txt".to_owned(), FileStatus::TypeChanged, Some(1), Some(3)));
        fs::remove_file(top.join("a.txt")).unwrap();
        assert_eq!(files(&work)[0], ("a.txt".to_owned(), FileStatus::Deleted, Some(0), Some(3)));
    }
}

#[test]
fn what_attributes_ask_for_and_repositories_inside_are_no_change_until_somebody_touches_them() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let place = Place::new();
        let project = place.repository("project");
        let attributes = b"*.bat text eol=crlf\n*.u16 text working-tree-encoding=UTF-16LE\n*.id ident\n";
        write(&project, ".gitattributes", attributes);
        write(&project, "x.bat", b"a\r\nb\r\n");
        write(&project, "x.u16", b"h\0i\0\n\0");
        write(&project, "x.id", b"$Id$\n");
        write(&project, "vendor/inside", b"x\n");
        git(&project.join("vendor"), ["init", "--quiet"]);
        commit(&project.join("vendor"));
        commit(&project);
        let link = git(&project, ["rev-parse", "HEAD:vendor"]);
        let work = Work::over(place, "project", kind);
        assert_eq!(files(&work), []);
        let raw = fs::read(work.top().join("x.bat")).unwrap();
        assert_eq!(raw, b"a\r\nb\r\n", "the checkout has what the attributes ask for");

        write(work.top(), "x.bat", b"a\r\nb\r\nc\r\n");
        assert_eq!(files(&work), [("x.bat".to_owned(), FileStatus::Modified, Some(1), Some(0))]);
        let tree = work.snapshots().tree(&work.wanted()).unwrap();
        assert_eq!(work.snapshots().file_of(&tree, "x.bat").unwrap().unwrap(), b"a\nb\nc\n");
        let snapshots = work.snapshots();
        let kept = snapshots.changes_between(&work.wanted().base.clone(), &tree).unwrap();
        assert!(kept.iter().all(|change| !change.path.ends_with("vendor")), "{link}: {kept:?}");
        fs::remove_dir_all(work.top().join("vendor")).unwrap();
        assert_eq!(files(&work)[0].0, "vendor", "one that is taken away is a change");
    }
}

#[test]
fn commits_are_counted_and_what_is_in_them_is_a_change_too() {
    let work = Work::borrowed();
    write(work.top(), "b.txt", b"b\n");
    commit(work.top());
    write(work.top(), "c.txt", b"c\n");
    let change = work.snapshots().change(&work.wanted()).unwrap();
    assert_eq!((change.commits, change.files.len()), (1, 2));
    assert_eq!(change.head, work.checkout.head());
    git(work.top(), ["commit", "--quiet", "--allow-empty", "--message=I did everything"]);
    let change = work.snapshots().change(&work.wanted()).unwrap();
    assert_eq!((change.commits, change.files.len()), (2, 2), "an empty commit changes nothing");
}

fn merged(work: &Work, onto: &ObjectId) -> MergeResult {
    let snapshots = work.snapshots();
    let tree = snapshots.tree(&work.wanted()).unwrap();
    snapshots.merge(&Proposal { start: &work.base.commit, tree: &tree, onto }).unwrap()
}

fn newest(work: &Work) -> ObjectId {
    resolve(&work.main, "refs/heads/main").unwrap()
}

#[test]
fn a_merge_has_what_both_sides_changed_and_its_checkout_is_whole() {
    let work = Work::borrowed();
    write(work.top(), "mine.txt", b"mine\n");
    write(&work.project(), "theirs.txt", b"theirs\n");
    commit(&work.project());
    let onto = newest(&work);
    let MergeResult::Clean { tree, commit: merged } = merged(&work, &onto) else { panic!() };
    let path = work.place.path.join("verifications/ses_test/merge");
    let new = NewCheckout {
        main: &work.main,
        path: &path,
        branch: "longhaul/verification",
        base: &merged,
        kind: CheckoutKind::Borrowed,
    };
    work.snapshots().lend(&new, &onto).unwrap();
    for (name, text) in [("mine.txt", "mine\n"), ("theirs.txt", "theirs\n"), ("a.txt", "one\ntwo\nthree\n")] {
        assert_eq!(fs::read_to_string(path.join(name)).unwrap(), text);
    }
    assert_eq!(git(&path, ["rev-parse", "HEAD^{tree}"]), tree.as_str());
    assert_eq!(git(&path, ["status", "--porcelain"]), "");
    // By itself, and not because a folder of ours is near.
    assert_eq!(git(&path, ["fsck", "--connectivity-only", "--no-dangling", "HEAD"]), "");
    assert_eq!(git(&work.project(), ["status", "--porcelain"]), "");
    discard(&path).unwrap();
    assert!(!path.exists());
    discard(&path).unwrap();
}

#[test]
fn the_same_files_merge_to_the_same_commit() {
    let work = Work::borrowed();
    write(work.top(), "mine.txt", b"mine\n");
    assert_eq!(merged(&work, &newest(&work)), merged(&work, &newest(&work)));
}

#[test]
fn a_conflict_names_its_files() {
    let work = Work::borrowed();
    write(work.top(), "a.txt", b"one\nMINE\nthree\n");
    write(&work.project(), "a.txt", b"one\nTHEIRS\nthree\n");
    commit(&work.project());
    let conflict = merged(&work, &newest(&work));
    assert_eq!(conflict, MergeResult::Conflict { files: vec![PathBuf::from("a.txt")] });
}

#[test]
fn a_commit_that_claims_to_have_merged_the_base_undoes_nothing_of_it() {
    let work = Work::borrowed();
    write(work.top(), "mine.txt", b"mine\n");
    commit(work.top());
    write(&work.project(), "theirs.txt", b"theirs\n");
    commit(&work.project());
    let onto = newest(&work);
    // Says that it has all of theirs, and has nothing of it.
    git(work.top(), ["merge", "--quiet", "--strategy=ours", "--message=merged", onto.as_str()]);
    let MergeResult::Clean { tree, .. } = merged(&work, &onto) else { panic!() };
    let changed = work.snapshots().file_changes(&onto, &tree).unwrap();
    let names: Vec<String> = changed.iter().map(|file| file.path.display().to_string()).collect();
    assert_eq!(names, ["mine.txt"]);
}

#[test]
fn a_merge_that_the_task_made_itself_counts_once() {
    let work = Work::borrowed();
    write(work.top(), "mine.txt", b"mine\n");
    commit(work.top());
    write(&work.project(), "a.txt", b"one\nTHEIRS\nthree\n");
    commit(&work.project());
    let onto = newest(&work);
    git(work.top(), ["merge", "--quiet", "--message=merged", onto.as_str()]);
    assert!(matches!(merged(&work, &onto), MergeResult::Clean { .. }));
}

/// Somebody takes the last commit out of a branch.
fn take_back(work: &Work) -> ObjectId {
    git(&work.project(), ["reset", "--quiet", "--hard", "HEAD~1"]);
    newest(work)
}

#[test]
fn what_was_taken_out_of_the_base_does_not_come_back_with_a_change() {
    let place = Place::new();
    let main = place.repository("project");
    write(&main, "a.txt", b"one\n");
    commit(&main);
    write(&main, ".github/workflows/evil.yml", b"on: push\n");
    write(&main, "gone.txt", b"gone\n");
    commit(&main);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    write(work.top(), "mine.txt", b"mine\n");
    let onto = take_back(&work);
    let MergeResult::Clean { tree, .. } = merged(&work, &onto) else { panic!() };
    let changed = work.snapshots().file_changes(&onto, &tree).unwrap();
    let names: Vec<String> = changed.iter().map(|file| file.path.display().to_string()).collect();
    assert_eq!(names, ["mine.txt"]);
    let of_task = work.snapshots().tree(&work.wanted()).unwrap();
    let joined = work.snapshots().join(&work.base.commit, &of_task, &onto).unwrap();
    assert_eq!(joined, Joined::Tree(tree), "what is delivered is what was verified");
    // Who worked on what was taken out has to look again.
    write(work.top(), "gone.txt", b"gone, and more\n");
    assert_eq!(merged(&work, &onto), MergeResult::Conflict { files: vec![PathBuf::from("gone.txt")] });
}

#[test]
fn a_change_reaches_no_path_that_it_did_not_touch_wherever_the_base_moved_it() {
    let place = Place::new();
    let main = place.repository("project");
    write(&main, "jobs/build.yml", b"one\ntwo\nthree\nfour\nfive\n");
    commit(&main);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    fs::create_dir_all(work.project().join(".github")).unwrap();
    git(&work.project(), ["mv", "jobs", ".github/workflows"]);
    commit(&work.project());
    // A new file would follow the folder, and an edit the file.
    write(work.top(), "jobs/more.yml", b"mine\n");
    let onto = newest(&work);
    let MergeResult::Clean { tree, .. } = merged(&work, &onto) else { panic!() };
    let changed = work.snapshots().file_changes(&onto, &tree).unwrap();
    let names: Vec<String> = changed.iter().map(|file| file.path.display().to_string()).collect();
    assert_eq!(names, ["jobs/more.yml"]);
    write(work.top(), "jobs/build.yml", b"one\ntwo\nthree\nfour\nFIVE\n");
    assert!(matches!(merged(&work, &onto), MergeResult::Conflict { .. }), "whoever made it looks again");
}
