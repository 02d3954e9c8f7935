//! Configuration, hooks and attributes that want to run something when we make, keep, restore or judge.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use longhaul_git::{Checkout, CheckoutKind, Lock, NewCheckout, secure_base};

use crate::support::{Place, commit, found, git, write};
use crate::work::{BRANCH, SESSION, Work};

const HOOKS: [&str; 12] = [
    "post-checkout",
    "reference-transaction",
    "post-index-change",
    "pre-commit",
    "post-commit",
    "fsmonitor-watchman",
    "post-rewrite",
    "pre-auto-gc",
    "post-merge",
    "update",
    "pre-receive",
    "proc-receive",
];

/// Puts a program everywhere where git could be told to run one.
fn booby_trap(repository: &Path, git_dir: &Path, canary: &Path) {
    let program = canary.with_extension("sh");
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for hook in HOOKS {
        let path = git_dir.join("hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&program, &path).unwrap();
    }
    let program = program.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "core.pager",
        "core.editor",
        "credential.helper",
        "credential.https://example.org.helper",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.with.dots.clean",
        "filter.with.dots.smudge",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "merge.evil.driver",
        "remote.origin.uploadpack",
        "uploadpack.packObjectsHook",
        "gpg.program",
        "submodule.x.update",
        "trailer.head.command",
        "trailer.before.cmd",
    ] {
        git(repository, ["config", key, program]);
    }
    git(repository, ["config", "submodule.recurse", "true"]);
    git(repository, ["config", "commit.gpgSign", "true"]);
    git(repository, ["config", "filter.evil.required", "true"]);
}

const ATTRIBUTES: &[u8] = b"*.txt filter=evil diff=evil merge=evil\n*.md filter=with.dots\n";

fn trapped_upstream(place: &Place) -> PathBuf {
    let upstream = place.repository("upstream");
    write(&upstream, ".gitattributes", ATTRIBUTES);
    write(&upstream, "a.txt", b"one\ntwo\nthree\n");
    write(&upstream, "b.md", b"b\n");
    commit(&upstream);
    git(&place.path, ["clone", "--quiet", "upstream", "project"]);
    commit(&upstream);
    place.path.join("project")
}

#[test]
fn nothing_that_the_main_repository_configures_is_run() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let place = Place::new();
        let project = trapped_upstream(&place);
        let canary = place.path.join("canary");
        booby_trap(&project, &project.join(".git"), &canary);
        let work = Work::over(place, "project", kind);
        assert!(matches!(work.base.freshness, longhaul_git::Freshness::Fetched { .. }), "{:?}", work.base);
        assert_eq!(fs::read(work.top().join("a.txt")).unwrap(), b"one\ntwo\nthree\n");
        use_all(&work);
        assert_eq!(fs::read_to_string(&canary).unwrap_or_default(), "", "{kind:?}");
    }
}

#[test]
fn nothing_that_an_agent_configures_in_its_checkout_is_run() {
    let place = Place::new();
    trapped_upstream(&place);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    let canary = work.place.path.join("canary");
    booby_trap(work.top(), &work.top().join(".git"), &canary);
    write(work.top(), ".git/info/attributes", ATTRIBUTES);
    git(work.top(), ["config", "core.worktree", work.place.path.to_str().unwrap()]);
    use_all(&work);
    assert_eq!(fs::read_to_string(&canary).unwrap_or_default(), "");
    assert!(!work.place.path.join("a.txt").exists());
}

/// Everything that is done to a checkout.
fn use_all(work: &Work) {
    let snapshots = work.snapshots();
    let first = work.take();
    write(work.top(), "a.txt", b"one\nTWO\nthree\n");
    write(work.top(), "c.txt", b"c\n");
    let second = work.take();
    assert_ne!(second.tree, first.tree);
    snapshots.changes(&work.wanted()).unwrap();
    let patch = snapshots.patch(&work.wanted()).unwrap();
    assert!(String::from_utf8_lossy(&patch).contains("+TWO"));
    snapshots.judge(&work.main, &work.wanted(), "main").unwrap();
    work.restore(&first);
    assert_eq!(fs::read(work.top().join("a.txt")).unwrap(), b"one\ntwo\nthree\n");
    assert_eq!(work.checkout.clear_stale_lock().unwrap(), Lock::Absent);
    let fate = snapshots.judge(&work.main, &work.wanted(), "main").unwrap();
    let longhaul_git::Fate::MayGo { snapshot, .. } = fate else { panic!("{fate:?}") };
    snapshots.remove(&work.main, &work.wanted(), &snapshot).unwrap().unwrap();
    let (main, path, base, kind) = (&work.main, work.top(), &work.base.commit, work.checkout.kind);
    let new = NewCheckout { main, path, branch: BRANCH, base, kind };
    let kept = work.kept(&second);
    snapshots.remake(SESSION, &new, &kept).unwrap();
    assert_eq!(fs::read(work.top().join("c.txt")).unwrap(), b"c\n");
}

#[test]
fn a_remote_that_names_a_program_is_not_fetched_from() {
    let place = Place::new();
    let project = place.repository("project");
    let canary = place.path.join("canary");
    let address = format!("ext::sh -c 'echo > {}'", canary.display());
    git(&project, ["config", "remote.origin.url", &address]);
    git(&project, ["config", "protocol.ext.allow", "always"]);
    let base = secure_base(&found(&project), SESSION, None).unwrap();
    assert!(matches!(base.freshness, longhaul_git::Freshness::Stale { .. }), "{base:?}");
    git(&project, ["config", "remote.origin.url", "https://example.org/x"]);
    git(&project, ["config", "remote.origin.vcs", "ext"]);
    git(&project, ["config", &format!("url.{address}.insteadOf"), "https://example.org/"]);
    secure_base(&found(&project), SESSION, None).unwrap();
    assert!(!canary.exists());
}

#[test]
fn a_link_in_place_of_a_folder_does_not_lead_out_of_the_checkout() {
    let work = Work::borrowed();
    write(work.top(), "folder/file", b"then");
    let then = work.take();
    let outside = work.place.folder("outside");
    write(&outside, "file", b"theirs");
    fs::remove_dir_all(work.top().join("folder")).unwrap();
    std::os::unix::fs::symlink(&outside, work.top().join("folder")).unwrap();
    let now = work.take();
    work.restore(&then);
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"theirs");
    assert_eq!(fs::read(work.top().join("folder/file")).unwrap(), b"then");
    work.restore(&now);
    assert_eq!(fs::read_link(work.top().join("folder")).unwrap(), outside);
    let again = Checkout::open(work.top(), CheckoutKind::Borrowed, &work.main.common_dir);
    assert_eq!(again.unwrap(), work.checkout);
}
