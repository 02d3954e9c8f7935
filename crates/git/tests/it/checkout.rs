//! Checkouts: what they are made of, and that nothing takes it away from them.

use std::fs::{self, File};
use std::path::Path;

use longhaul_git::{Checkout, CheckoutKind, Error, Lock, NewCheckout, secure_base};

use crate::support::{Place, commit, found, git, try_git, write};
use crate::work::{BRANCH, SESSION, Work, contents};

#[test]
fn a_borrowed_clone_has_the_files_of_the_base_on_its_own_branch_and_no_way_out() {
    let work = Work::borrowed();
    assert_eq!(fs::read(work.top().join("a.txt")).unwrap(), b"one\ntwo\nthree\n");
    assert_eq!(git(work.top(), ["branch", "--show-current"]), BRANCH);
    assert_eq!(git(work.top(), ["rev-parse", "HEAD"]), work.base.commit.as_str());
    assert_eq!(git(work.top(), ["status", "--porcelain"]), "");
    assert_eq!(git(work.top(), ["remote"]), "");
    assert!(!work.top().join(".git/hooks").exists());
    // It can be worked in without a write to the repository that it borrows from.
    let before = contents(&work.project().join(".git"));
    write(work.top(), "new", b"new");
    work.commit();
    assert_eq!(contents(&work.project().join(".git")), before);
    assert_eq!(git(&work.project(), ["branch", "--list", "longhaul/*"]), "");
}

#[test]
fn a_linked_worktree_has_the_files_of_the_base_on_its_own_branch() {
    let work = Work::begin(CheckoutKind::Linked);
    assert_eq!(git(work.top(), ["branch", "--show-current"]), BRANCH);
    assert_eq!(git(work.top(), ["status", "--porcelain"]), "");
    assert_eq!(found(work.top()).common_dir, work.main.common_dir);
}

#[test]
fn nothing_is_made_where_something_is() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let work = Work::begin(kind);
        let (main, path, base) = (&work.main, work.top(), &work.base.commit);
        let again = Checkout::make(&NewCheckout { main, path, branch: "longhaul/other", base, kind });
        assert!(matches!(again, Err(Error::CheckoutExists { .. })), "{again:?}");
    }
}

#[test]
fn what_a_crash_left_of_a_half_made_checkout_is_made_anew() {
    for kind in [CheckoutKind::Borrowed, CheckoutKind::Linked] {
        let place = Place::new();
        let main = found(&place.repository("project"));
        let base = secure_base(&main, SESSION, None).unwrap();
        let path = place.path.join("checkouts/test-work");
        let new = NewCheckout { main: &main, path: &path, branch: BRANCH, base: &base.commit, kind };
        match kind {
            CheckoutKind::Borrowed => write(&path.with_extension("making"), "half", b""),
            CheckoutKind::Linked => {
                place.folder("checkouts");
                fs::write(path.with_extension("making"), b"").unwrap();
                let adding = ["worktree", "add", "--quiet", "--no-checkout", "-b", BRANCH];
                git(&main.common_dir, adding.iter().map(Into::into).chain([path.clone().into_os_string()]));
            }
        }
        let made = Checkout::make(&new).unwrap();
        assert_eq!(git(&made.path, ["status", "--porcelain"]), "");
        assert!(!path.with_extension("making").exists());
    }
}

#[test]
fn the_base_outlives_any_clean_up_of_the_repository_that_it_is_borrowed_from() {
    let work = Work::borrowed();
    let project = work.project();
    // The branch is rewritten, so that nothing of theirs leads to the base any more.
    git(&project, ["checkout", "--quiet", "--orphan", "other"]);
    write(&project, "a.txt", b"something else\n");
    commit(&project);
    git(&project, ["branch", "-D", "main"]);
    work.collect_garbage();
    git(work.top(), ["fsck", "--strict"]);
    git(work.top(), ["checkout", "--quiet", "HEAD", "--", "."]);
    assert_eq!(fs::read(work.top().join("a.txt")).unwrap(), b"one\ntwo\nthree\n");
}

#[test]
fn a_shallow_repository_can_be_borrowed_from() {
    let place = Place::new();
    let upstream = place.repository("upstream");
    commit(&upstream);
    let address = format!("file://{}", upstream.display());
    git(&place.path, ["clone", "--quiet", "--depth=1", &address, "project"]);
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    assert_eq!(git(work.top(), ["log", "--format=%H"]).lines().count(), 1);
    write(work.top(), "new", b"new");
    work.commit();
    work.take();
}

#[test]
fn what_a_partial_clone_lacks_of_the_base_is_fetched_first() {
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let place = Place::new();
        let upstream = place.repository("upstream");
        write(&upstream, "deep/in/here.txt", b"content\n");
        commit(&upstream);
        git(&upstream, ["config", "uploadpack.allowFilter", "true"]);
        git(&upstream, ["config", "uploadpack.allowAnySHA1InWant", "true"]);
        let address = format!("file://{}", upstream.display());
        git(&place.path, ["clone", "--quiet", "--no-checkout", filter, &address, "project"]);
        let work = Work::over(place, "project", CheckoutKind::Borrowed);
        assert_eq!(fs::read(work.top().join("deep/in/here.txt")).unwrap(), b"content\n");
        write(work.top(), "deep/in/new", b"new");
        work.commit();
        assert_eq!(work.take().left_out, []);
    }
}

#[test]
fn a_name_that_could_lead_elsewhere_is_refused() {
    let work = Work::borrowed();
    for branch in ["../up", "a b", "-b", "longhaul/..", "a//b", ""] {
        let path = work.place.path.join("checkouts/other");
        let (main, base, kind) = (&work.main, &work.base.commit, CheckoutKind::Borrowed);
        let made = Checkout::make(&NewCheckout { main, path: &path, branch, base, kind });
        assert!(matches!(made, Err(Error::UnfitName { .. })), "{branch:?}: {made:?}");
    }
}

#[test]
fn a_checkout_that_was_replaced_is_not_taken_for_the_one_that_was_made() {
    let work = Work::borrowed();
    let other = work.place.repository("other");
    fs::remove_dir_all(work.top().join(".git")).unwrap();
    let open = || Checkout::open(work.top(), CheckoutKind::Borrowed, &work.main.common_dir);
    assert!(matches!(open(), Err(Error::NotOurCheckout { .. })));
    fs::write(work.top().join(".git"), format!("gitdir: {}\n", other.join(".git").display())).unwrap();
    assert!(matches!(open(), Err(Error::NotOurCheckout { .. })));
    fs::remove_file(work.top().join(".git")).unwrap();
    std::os::unix::fs::symlink(other.join(".git"), work.top().join(".git")).unwrap();
    assert!(matches!(open(), Err(Error::NotOurCheckout { .. })));
}

#[test]
fn a_clone_borrows_from_where_we_said_and_from_nowhere_else() {
    let work = Work::borrowed();
    let other = work.place.repository("other");
    let file = work.top().join(".git/objects/info/alternates");
    let right = fs::read(&file).unwrap();
    fs::write(&file, format!("{}\n", other.join(".git/objects").display())).unwrap();
    Checkout::open(work.top(), CheckoutKind::Borrowed, &work.main.common_dir).unwrap();
    assert_eq!(fs::read(&file).unwrap(), right);
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(other.join(".git/config"), &file).unwrap();
    Checkout::open(work.top(), CheckoutKind::Borrowed, &work.main.common_dir).unwrap();
    assert_eq!(fs::read(&file).unwrap(), right);
    assert!(fs::read_to_string(other.join(".git/config")).unwrap().contains("[core]"));
}

#[test]
fn paths_with_line_breaks_and_quotes_can_be_borrowed_from() {
    let place = Place::new();
    place.repository("a \"b\"\n\\c");
    let work = Work::over(place, "a \"b\"\n\\c", CheckoutKind::Borrowed);
    assert_eq!(git(work.top(), ["status", "--porcelain"]), "");
    write(work.top(), "new", b"new");
    work.commit();
    assert_eq!(work.take().left_out, []);
}

#[test]
fn the_lock_of_a_dead_process_is_cleared_and_that_of_a_living_one_respected() {
    let work = Work::borrowed();
    assert_eq!(work.checkout.clear_stale_lock().unwrap(), Lock::Absent);
    let lock = work.top().join(".git/index.lock");
    let held = File::create(&lock).unwrap();
    let by = Some(std::process::id());
    assert_eq!(work.checkout.clear_stale_lock().unwrap(), Lock::Held { by });
    assert!(!try_git(work.top(), ["add", "."]).succeeded());
    drop(held);
    assert_eq!(work.checkout.clear_stale_lock().unwrap(), Lock::Cleared);
    assert!(try_git(work.top(), ["add", "."]).succeeded());
}

#[test]
fn a_commit_that_waits_for_an_editor_keeps_its_lock() {
    let work = Work::borrowed();
    write(work.top(), "new", b"new");
    git(work.top(), ["add", "new"]);
    let (began, go_on) = (work.place.path.join("began"), work.place.path.join("go-on"));
    let editor = work.place.path.join("editor.sh");
    let waiting = format!(
        "echo > '{}'; while ! test -e '{}'; do sleep 0.02; done; echo done > \"$1\"",
        began.display(),
        go_on.display()
    );
    fs::write(&editor, waiting).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let mut variables = vec![("PATH".into(), path), ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into())];
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        variables.push((name.into(), "a@example.org".into()));
    }
    variables.push(("GIT_EDITOR".into(), format!("sh '{}'", editor.display()).into()));
    let program = longhaul_exec::Program::new("git").args(["commit", "--all"]).directory(work.top());
    let program = program.environment(longhaul_exec::Environment::Only(variables));
    let running = longhaul_exec::start(&program).unwrap();
    while !began.exists() {
        std::thread::yield_now();
    }
    assert!(lock_of(work.top()).exists(), "git holds its lock while the editor runs");
    assert_eq!(work.checkout.clear_stale_lock().unwrap(), Lock::Held { by: Some(running.id()) });
    fs::write(go_on, b"").unwrap();
    assert!(running.wait().unwrap().succeeded());
    assert_eq!(work.checkout.clear_stale_lock().unwrap(), Lock::Absent);
}

fn lock_of(top: &Path) -> std::path::PathBuf {
    top.join(".git/index.lock")
}

#[test]
fn links_and_pipes_that_an_agent_put_into_its_git_folder_are_not_followed() {
    let place = Place::new();
    let other = place.repository("other");
    place.repository("project");
    let alternates = other.join(".git/objects/info/alternates");
    fs::write(&alternates, "/precious\n").unwrap();
    let work = Work::over(place, "project", CheckoutKind::Borrowed);
    let open = || Checkout::open(work.top(), CheckoutKind::Borrowed, &work.main.common_dir);
    open().unwrap();
    let objects = work.top().join(".git/objects");
    fs::rename(&objects, work.top().join("objects")).unwrap();
    std::os::unix::fs::symlink(other.join(".git/objects"), &objects).unwrap();
    assert!(matches!(open(), Err(Error::NotOurCheckout { .. })));
    assert_eq!(fs::read_to_string(&alternates).unwrap(), "/precious\n");
    fs::remove_file(&objects).unwrap();
    fs::rename(work.top().join("objects"), &objects).unwrap();
    open().unwrap();
    pipe(&work.top().join(".git/shallow"));
    assert!(matches!(open(), Err(Error::NotOurCheckout { .. })));
}

#[test]
fn a_pipe_that_git_would_wait_for_is_named() {
    let work = Work::borrowed();
    fs::create_dir(work.top().join("deep")).unwrap();
    pipe(&work.top().join("deep/.gitignore"));
    let taken = work.snapshots().take(&work.wanted());
    assert!(matches!(&taken, Err(Error::Trap { path }) if path.ends_with("deep/.gitignore")), "{taken:?}");
}

fn pipe(path: &Path) {
    let made = longhaul_exec::run(&longhaul_exec::Program::new("mkfifo").arg(path)).unwrap();
    assert_eq!(made.outcome, longhaul_exec::Outcome::Exited(0));
}
