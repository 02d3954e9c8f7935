//! Snapshots: every byte, and nothing but what is named left out.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use longhaul_git::{
    ChangeKind, Checkout, CheckoutKind, Error, LeftOut, NewCheckout, News, Snapshots, TakeSnapshot,
};

use crate::support::{Place, commit, git, write};
use crate::work::{BRANCH, SESSION, Work, contents};

#[test]
fn files_of_every_kind_come_back_as_they_were() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        let top = work.top();
        write(top, ".gitattributes", b"*.txt text eol=lf\n*.id ident\n*.enc working-tree-encoding=UTF-16\n");
        write(top, "a.txt", b"one\r\ntwo\r\n");
        write(top, "b.id", b"$Id$ $Id: x $\n");
        write(top, "c.enc", b"no utf-16\n");
        write(top, "empty", b"");
        write(top, "deep/er/untracked", b"u");
        write(top, "program", b"#!/bin/sh\n");
        fs::set_permissions(top.join("program"), fs::Permissions::from_mode(0o755)).unwrap();
        write(top, OsStr::from_bytes(b"new\nline and \xff\xfe \"quotes\" \\"), b"odd");
        write(top, "GIT~1", b"a name that another system would mistake");
        symlink("a.txt", top.join("link")).unwrap();
        symlink("nowhere/at all", top.join("dangling")).unwrap();
        let before = contents(top);
        let snapshot = work.take();
        assert_eq!(snapshot.left_out, []);
        for (name, _, _) in &before {
            fs::remove_file(top.join(OsStr::from_bytes(name))).unwrap();
        }
        write(top, "later", b"later");
        let restored = work.restore(&snapshot);
        assert_eq!(contents(top), before);
        let afterwards = restored.before.unwrap();
        work.restore(&afterwards);
        assert_eq!(contents(top), [(b"later".to_vec(), "file".to_owned(), b"later".to_vec())]);
    }
}

#[test]
fn neither_index_nor_head_of_the_checkout_is_touched() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        write(work.top(), "staged", b"1");
        git(work.top(), ["add", "staged"]);
        write(work.top(), "staged", b"2");
        let index = work.checkout.git_dir.join("index");
        let state = || (fs::read(&index).unwrap(), fs::read(work.checkout.git_dir.join("HEAD")).unwrap());
        let before = state();
        let snapshot = work.take();
        assert_eq!(state(), before);
        work.restore(&snapshot);
        assert_eq!(state(), before);
        assert_eq!(git(work.top(), ["status", "--porcelain"]), "AM staged");
    }
}

#[test]
fn ignored_files_are_left_out_unless_they_are_tracked_and_secrets_always() {
    let mut work = Work::borrowed();
    write(work.top(), "ignored", b"ignored");
    write(work.top(), ".env", b"TOKEN=1");
    work.secret = vec![".env".into()];
    let listed = || {
        let changes = work.snapshots().changes(&work.wanted()).unwrap();
        changes.into_iter().map(|change| (change.kind, change.path)).collect::<Vec<_>>()
    };
    assert_eq!(listed(), []);
    git(work.top(), ["add", "--force", "ignored"]);
    assert_eq!(listed(), [(ChangeKind::Added, "ignored".into())]);
    write(work.top(), ".gitignore", b"");
    git(work.top(), ["rm", "--quiet", "--cached", "ignored"]);
    write(work.top(), "a.txt", b"changed");
    let expected = [".gitignore", "a.txt"].map(|path| (ChangeKind::Modified, path.into()));
    assert_eq!(listed()[..2], expected);
    let patch = String::from_utf8(work.snapshots().patch(&work.wanted()).unwrap()).unwrap();
    assert!(patch.contains("+changed") && !patch.contains("TOKEN"), "{patch}");
}

#[test]
fn a_repository_inside_is_named_and_its_files_are_kept() {
    let work = Work::borrowed();
    let inner = work.top().join("vendor/inner");
    fs::create_dir_all(&inner).unwrap();
    git(&inner, ["init", "--quiet"]);
    write(&inner, "file", b"unborn");
    let unborn = work.take();
    let named = vec![LeftOut::NestedHistory { path: "vendor/inner".into() }];
    assert_eq!(unborn.left_out, named);
    commit(&inner);
    write(&inner, "file", b"changed");
    write(work.top(), "fake/.git/x", b"not a repository");
    write(work.top(), "fake/y", b"y");
    let changed = work.take();
    let fake = LeftOut::NestedHistory { path: "fake".into() };
    assert_eq!(changed.left_out, [vec![fake], named].concat());
    fs::remove_file(inner.join("file")).unwrap();
    work.restore(&unborn);
    assert_eq!(fs::read(inner.join("file")).unwrap(), b"unborn");
    work.restore(&changed);
    assert_eq!(fs::read(inner.join("file")).unwrap(), b"changed");
    assert!(inner.join(".git").is_dir());
}

#[test]
fn what_cannot_be_read_is_named() {
    let work = Work::borrowed();
    write(work.top(), "closed", b"closed");
    fs::set_permissions(work.top().join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    write(work.top(), "shut/file", b"shut");
    fs::set_permissions(work.top().join("shut"), fs::Permissions::from_mode(0o000)).unwrap();
    let pipe = work.top().join("a.txt");
    fs::remove_file(&pipe).unwrap();
    let made = longhaul_exec::run(&longhaul_exec::Program::new("mkfifo").arg(&pipe)).unwrap();
    assert!(made.succeeded());
    write(work.top(), "open", b"open");
    let snapshot = work.take();
    let may_read = File::open(work.top().join("closed")).is_ok();
    let mut expected = vec![LeftOut::NotAFile { path: "a.txt".into() }];
    // Root may read everything.
    if !may_read {
        let closed = ["closed", "shut/"].map(|path| LeftOut::Unreadable { path: path.into() });
        expected.splice(..0, closed);
    }
    assert_eq!(snapshot.left_out, expected);
    let changes = work.snapshots().changes(&work.wanted()).unwrap();
    assert!(changes.iter().any(|change| change.path.as_os_str() == "open"), "{changes:?}");
    fs::set_permissions(work.top().join("shut"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_large_file_is_kept() {
    let work = Work::borrowed();
    let path = work.top().join("large");
    let file = File::create(&path).unwrap();
    file.set_len(101 << 20).unwrap();
    drop(file);
    let snapshot = work.take();
    assert_eq!(snapshot.left_out, []);
    fs::remove_file(&path).unwrap();
    work.restore(&snapshot);
    assert_eq!(fs::metadata(&path).unwrap().len(), 101 << 20);
}

#[test]
fn snapshots_are_chained_and_the_same_tree_is_not_kept_twice() {
    let work = Work::borrowed();
    let first = work.take();
    assert_eq!(first.news, News::New);
    assert_eq!(work.take(), longhaul_git::Snapshot { news: News::AsBefore, ..first.clone() });
    write(work.top(), "x", b"1");
    let second = work.take();
    work.commit();
    let third = work.take();
    assert_eq!((second.tree == third.tree, third.news), (true, News::New));
    assert_eq!(work.take().news, News::AsBefore);
    let listed = work.snapshots().list(SESSION).unwrap();
    let ids: Vec<_> = listed.iter().map(|kept| &kept.id).collect();
    assert_eq!(ids, [&third.id, &second.id, &first.id]);
    assert_eq!(listed[0].head, third.head);
    assert_eq!(listed[0].because, "a step ended");
    assert_eq!(work.snapshots().sessions().unwrap(), [SESSION]);
    let missing = work.snapshots().find(SESSION, "0000000");
    assert!(matches!(missing, Err(Error::NoSuchSnapshot { .. })));
}

#[test]
fn a_change_that_hides_behind_its_size_and_time_is_seen() {
    let work = Work::borrowed();
    write(work.top(), "x", b"one");
    let path = work.top().join("x");
    let first = work.take();
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, b"two").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_ne!(work.take().tree, first.tree);
}

#[test]
fn commits_branches_and_stashes_of_a_clone_outlive_it() {
    let work = Work::borrowed();
    write(work.top(), "x", b"committed and then changed");
    let first = work.commit();
    git(work.top(), ["branch", "side"]);
    git(work.top(), ["reset", "--quiet", "--hard", "HEAD~1"]);
    write(work.top(), "a.txt", b"stashed");
    git(work.top(), ["stash", "--quiet"]);
    let stashed = git(work.top(), ["rev-parse", "refs/stash"]);
    write(work.top(), "y", b"y");
    let last = work.commit();
    let snapshot = work.take();
    fs::remove_dir_all(work.top()).unwrap();
    work.collect_garbage();
    let folder = work.place.path.join("snapshots/ws");
    for id in [&first, &stashed, &last] {
        git(&folder, ["merge-base", "--is-ancestor", id, snapshot.id.as_str()]);
    }
    git(&folder, ["fsck", "--strict"]);
    // And the checkout can be made again as it was.
    let (main, path, base) = (&work.main, work.top(), &work.base.commit);
    let new = NewCheckout { main, path, branch: BRANCH, base, kind: CheckoutKind::Borrowed };
    let kept = work.snapshots().find(SESSION, snapshot.id.as_str()).unwrap();
    work.snapshots().remake(SESSION, &new, &kept).unwrap();
    assert_eq!(git(path, ["rev-parse", "HEAD"]), last);
    assert_eq!(git(path, ["status", "--porcelain"]), "");
    assert_eq!(fs::read(path.join("y")).unwrap(), b"y");
}

#[test]
fn a_snapshot_holds_by_itself_what_the_main_repository_may_throw_away() {
    let work = Work::borrowed();
    let project = work.project();
    // A content that is on a branch of theirs, which they delete later.
    git(&project, ["checkout", "--quiet", "-b", "theirs"]);
    write(&project, "shared", b"the same content\n");
    commit(&project);
    git(&project, ["checkout", "--quiet", "main"]);
    write(work.top(), "shared", b"the same content\n");
    work.commit();
    write(work.top(), "also", b"the same content\n");
    let snapshot = work.take();
    git(&project, ["branch", "--quiet", "-D", "theirs"]);
    work.collect_garbage();
    git(&work.place.path.join("snapshots/ws"), ["fsck", "--strict"]);
    fs::remove_file(work.top().join("also")).unwrap();
    work.restore(&snapshot);
    assert_eq!(fs::read(work.top().join("also")).unwrap(), b"the same content\n");
}

#[test]
fn what_is_ignored_and_in_the_way_of_a_restore_is_kept_before() {
    let work = Work::borrowed();
    write(work.top(), ".gitignore", b"");
    write(work.top(), "ignored", b"then");
    write(work.top(), "folder", b"a file then");
    write(work.top(), "deep/file", b"deep");
    let then = work.take();
    write(work.top(), ".gitignore", b"ignored\nfolder\ndeep\n");
    write(work.top(), "ignored", b"now");
    fs::remove_file(work.top().join("folder")).unwrap();
    write(work.top(), "folder/inside", b"inside");
    fs::remove_dir_all(work.top().join("deep")).unwrap();
    write(work.top(), "deep", b"a file now");
    let now = contents(work.top());
    let restored = work.restore(&then);
    assert_eq!(fs::read(work.top().join("ignored")).unwrap(), b"then");
    assert_eq!(fs::read(work.top().join("folder")).unwrap(), b"a file then");
    work.restore(&restored.before.unwrap());
    assert_eq!(contents(work.top()), now);
}

#[test]
fn many_snapshots_do_not_become_many_packs() {
    let work = Work::borrowed();
    let snapshots = work.snapshots();
    for round in 0..55_u32 {
        write(work.top(), "x", round.to_string().as_bytes());
        snapshots.take(&work.wanted()).unwrap();
    }
    let packs = fs::read_dir(work.place.path.join("snapshots/ws/objects/pack")).unwrap();
    let packs = packs.filter(|entry| entry.as_ref().unwrap().path().extension() == Some(OsStr::new("pack")));
    assert!(packs.count() <= 50);
    let listed = snapshots.list(SESSION).unwrap();
    assert_eq!(listed.len(), 55);
    snapshots.restore(&work.wanted(), &listed[50]).unwrap();
    assert_eq!(fs::read(work.top().join("x")).unwrap(), b"4");
}

/// Objects that are a file each.
fn loose(folder: &std::path::Path) -> usize {
    let entries = fs::read_dir(folder.join("objects")).unwrap().flatten();
    let shelves = entries.filter(|entry| entry.file_name().len() == 2);
    shelves.map(|shelf| fs::read_dir(shelf.path()).unwrap().count()).sum()
}

#[test]
fn many_files_are_written_into_one_pack_and_none_of_them_twice() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        let top = work.top();
        for number in 0..1500 {
            write(top, format!("many/{}/{number}", number % 10), format!("the file {number}").as_bytes());
        }
        write(top, "many/committed", b"in a commit of the checkout and nowhere else");
        let commit = work.commit();
        for number in 0..1500 {
            write(top, format!("more/{}/{number}", number % 10), format!("file {number} of them").as_bytes());
        }
        write(top, "tiny", b"1");
        let snapshots = work.snapshots();
        let changes = snapshots.changes(&work.wanted()).unwrap();
        assert_eq!(changes.len(), 3002);
        let store = work.place.path.join("snapshots/ws");
        // The folders, and what is too small for a pack.
        assert!(loose(&store) < 60, "{kind:?}: {}", loose(&store));
        let before = contents(top);
        let snapshot = work.take();
        assert_eq!((snapshot.left_out.len(), loose(&store)), (0, 0));
        let packed = git(&store, ["count-objects", "-v"]);
        let packed = packed.lines().find_map(|line| line.strip_prefix("in-pack: ")).unwrap();
        let all = git(&store, ["rev-list", "--objects", "--all", "--not", work.base.commit.as_str()]);
        assert_eq!(packed.parse::<usize>().unwrap(), all.lines().count(), "{kind:?}");
        // Neither the checkout nor what only it has is needed.
        work.collect_garbage();
        for (name, _, _) in &before {
            fs::remove_file(top.join(OsStr::from_bytes(name))).unwrap();
        }
        work.restore(&snapshot);
        assert!(contents(top) == before, "{kind:?}");
        assert_eq!(git(&store, ["cat-file", "-t", &commit]), "commit");
    }
}

#[test]
fn repositories_with_longer_ids_work_too() {
    let place = Place::new();
    let project = place.folder("project");
    git(&project, ["init", "--quiet", "--object-format=sha256", "--initial-branch=main"]);
    write(&project, "a", b"a");
    commit(&project);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    write(work.top(), "b", b"b");
    let snapshot = work.take();
    fs::remove_file(work.top().join("b")).unwrap();
    work.restore(&snapshot);
    assert_eq!(fs::read(work.top().join("b")).unwrap(), b"b");
}

#[test]
fn a_damaged_repository_of_the_checkout_does_not_cost_its_files() {
    let work = Work::borrowed();
    write(work.top(), "x", b"x");
    fs::write(work.top().join(".git/HEAD"), b"ref: refs/heads/gone\n").unwrap();
    fs::write(work.top().join(".git/index"), b"damaged").unwrap();
    let snapshot = work.take();
    assert!(matches!(snapshot.left_out[..], [LeftOut::Index { .. }]), "{snapshot:?}");
    assert_eq!(snapshot.head, None);
    fs::remove_file(work.top().join("x")).unwrap();
    work.restore(&snapshot);
    assert_eq!(fs::read(work.top().join("x")).unwrap(), b"x");
}

#[test]
fn two_who_take_snapshots_at_once_take_turns() {
    let work = Work::borrowed();
    let take = || {
        let snapshots = Snapshots::open(&work.place.path.join("snapshots/ws"), &work.main).unwrap();
        let wanted = TakeSnapshot { ..work.wanted() };
        for _ in 0..5 {
            snapshots.take(&wanted).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(take);
        }
        for round in 0..20_u32 {
            write(work.top(), "x", round.to_string().as_bytes());
        }
    });
    let last = work.take();
    assert_eq!(work.snapshots().latest(SESSION).unwrap(), Some(last.id));
}

#[test]
fn files_are_kept_whatever_became_of_the_git_folder() {
    let work = Work::borrowed();
    write(work.top(), "mine.txt", b"mine\n");
    fs::remove_dir_all(work.top().join(".git")).unwrap();
    assert!(Checkout::open(work.top(), CheckoutKind::Borrowed, &work.main.common_dir).is_err());
    let checkout = Checkout::without_history(work.top(), CheckoutKind::Borrowed, &work.main.common_dir);
    let wanted = TakeSnapshot { checkout: &checkout, ..work.wanted() };
    let taken = work.snapshots().take(&wanted).unwrap();
    assert_eq!(work.snapshots().file_of(&taken.tree, "mine.txt").unwrap().unwrap(), b"mine\n");
    let named = |wanted: fn(&LeftOut) -> bool| taken.left_out.iter().any(wanted);
    let is_told = named(|left| matches!(left, LeftOut::Commits { .. }))
        && named(|left| matches!(left, LeftOut::Index { .. }));
    assert!(is_told, "{:?}", taken.left_out);
}

#[test]
fn a_repository_inside_is_no_change_until_somebody_moves_it_and_that_is_named() {
    let place = Place::new();
    let project = place.repository("project");
    write(&project, "vendor/inside", b"x\n");
    git(&project.join("vendor"), ["init", "--quiet"]);
    commit(&project.join("vendor"));
    commit(&project);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    let snapshots = work.snapshots();
    assert_eq!(snapshots.changes(&work.wanted()).unwrap(), []);
    assert_eq!(snapshots.patch(&work.wanted()).unwrap(), b"", "what is applied elsewhere deletes nothing");
    assert_eq!(work.take().left_out, []);
    let moved = format!("160000,{},vendor", "1".repeat(40));
    git(work.top(), ["update-index", "--cacheinfo", &moved]);
    assert_eq!(work.take().left_out, [LeftOut::Submodule { path: "vendor".into() }]);
}
