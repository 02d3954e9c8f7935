//! Environments and configurations that want to lead git astray or to run something.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use longhaul_exec::{Program, run};
use longhaul_git::{Error, discover, head, read_folder};

use crate::support::{Place, found, git, try_git, write};

const PROBED: &str = "LONGHAUL_TEST_PROBED";
const PROBE: &str = "hostile::a_fresh_repository_or_the_one_probed_for_another_test_is_discovered";

/// Also the program that other tests here run in an environment of their own: one cannot change its own.
#[test]
fn a_fresh_repository_or_the_one_probed_for_another_test_is_discovered() {
    if let Some(path) = std::env::var_os(PROBED) {
        let answer = discover(Path::new(&path)).and_then(|repository| {
            let head = head(&repository)?;
            Ok((repository, head))
        });
        println!("{answer:?}");
        return;
    }
    let place = Place::new();
    assert_eq!(found(&place.repository("project")).checkout, Some(place.path.join("project")));
}

/// What is discovered from a path by a process with these variables.
fn probe(path: &Path, variables: &[(&str, OsString)]) -> String {
    let this = std::env::current_exe().expect("a running test has a program");
    let mut program = Program::new(this).args(["--exact", PROBE, "--nocapture"]).set_variable(PROBED, path);
    for (name, value) in variables {
        program = program.set_variable(*name, value);
    }
    let finished = run(&program).expect("a test can be run");
    assert!(finished.succeeded(), "{}", finished.stderr.to_text());
    finished.stdout.to_text()
}

fn answer(path: &Path) -> String {
    let repository = found(path);
    let head = head(&repository).expect("the head of a fresh repository can be read");
    format!("{:?}", Ok::<_, Error>((repository, head)))
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a temporary folder can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our own file can be changed");
}

/// Runs everything that this crate can do on a path and answers whether `canary` came into being.
fn sings(path: &Path, canary: &Path) -> bool {
    let repository = found(path);
    head(&repository).expect("the head can be read");
    // That it fails where content is missing is another test's affair.
    let _ = read_folder(&repository, "HEAD", ".longhaul");
    canary.exists()
}

#[test]
fn variables_of_git_in_our_own_environment_do_not_mislead() {
    let place = Place::new();
    let (right, wrong) = (place.repository("right"), place.repository("wrong"));
    git(&wrong, ["checkout", "--quiet", "-b", "elsewhere"]);
    let expected = answer(&right);
    let data = OsString::from(wrong.join(".git"));
    let cases: [&[(&str, OsString)]; 7] = [
        &[("GIT_DIR", data.clone())],
        &[("GIT_DIR", data.clone()), ("GIT_WORK_TREE", wrong.clone().into())],
        &[("GIT_COMMON_DIR", data.clone())],
        &[("GIT_OBJECT_DIRECTORY", place.path.join("nowhere").into())],
        &[("GIT_NAMESPACE", "other".into())],
        &[
            ("GIT_CONFIG_COUNT", "1".into()),
            ("GIT_CONFIG_KEY_0", "core.worktree".into()),
            ("GIT_CONFIG_VALUE_0", wrong.clone().into()),
        ],
        &[("GIT_CONFIG_PARAMETERS", "'core.bare=true'".into()), ("LC_ALL", "de_DE.UTF-8".into())],
    ];
    for variables in cases {
        assert!(probe(&right, variables).contains(&expected), "{variables:?}");
    }
}

#[test]
fn a_file_monitor_a_hook_or_an_alias_of_the_repository_is_never_run() {
    let place = Place::new();
    let top = place.repository("project");
    let canary = place.path.join("canary");
    let touch = format!("touch '{}'", canary.display());
    let monitor = place.path.join("monitor");
    script(&monitor, &touch);
    let hooks = place.folder("hooks");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman"] {
        script(&hooks.join(hook), &touch);
    }
    let config: [(&str, OsString); 4] = [
        ("core.fsmonitor", monitor.into()),
        ("core.hooksPath", hooks.into()),
        ("alias.rev-parse", format!("!{touch}").into()),
        ("core.pager", touch.clone().into()),
    ];
    for (name, value) in config {
        git(&top, [OsString::from("config"), name.into(), value]);
    }
    git(&top, ["status"]);
    assert!(canary.exists(), "the bait must work on plain git");
    fs::remove_file(&canary).unwrap();

    assert!(!sings(&top, &canary));
}

#[test]
fn a_partial_clone_does_not_call_its_remote_for_content_it_lacks() {
    let place = Place::new();
    let top = place.repository("project");
    let canary = place.path.join("canary");
    let bait = place.path.join("bait");
    script(&bait, &format!("touch '{}'", canary.display()));
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("remote.origin.url", &format!("ext::{}", bait.display())),
    ] {
        git(&top, ["config", name, value]);
    }
    let id = git(&top, ["rev-parse", "HEAD:.longhaul/config.yml"]);
    fs::remove_file(top.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
    assert!(!try_git(&top, ["cat-file", "-e", &id]).succeeded());
    assert!(canary.exists(), "the bait must work on plain git");
    fs::remove_file(&canary).unwrap();

    assert!(!sings(&top, &canary));
    let error = read_folder(&found(&top), "HEAD", ".longhaul").unwrap_err();
    assert!(matches!(error, Error::ObjectMissing { .. }), "{error:?}");
}

/// A git that takes every repository for another user's; the variable is git's own, for its own tests.
fn suspicious_git(place: &Place) -> OsString {
    let path = std::env::var_os("PATH").expect("tests run with a `PATH`");
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    let real: PathBuf = real.expect("tests run with git");
    let folder = place.folder("suspicious");
    script(
        &folder.join("git"),
        &format!("GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec '{}' \"$@\"", real.display()),
    );
    let with_ours = std::iter::once(folder).chain(std::env::split_paths(&path));
    std::env::join_paths(with_ours).expect("a temporary folder has no colon in its name")
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_command_that_allows_it() {
    let place = Place::new();
    let top = place.repository("pro ject");
    // Without the user's configuration, which may allow everything.
    let variables = [("PATH", suspicious_git(&place)), ("HOME", place.folder("home").into())];
    let refused = probe(&top, &variables);
    assert!(refused.contains("DubiousOwnership"), "{refused}");
    let remedy = format!("git config --global --add safe.directory '{}'", top.display());
    assert!(refused.contains(&remedy), "{refused}");

    write(
        &place.folder("home"),
        ".gitconfig",
        format!("[safe]\n\tdirectory = {}\n", top.display()).as_bytes(),
    );
    assert!(probe(&top, &variables).contains(&answer(&top)));
}

#[test]
fn a_worktree_is_found_although_its_user_forbids_to_stumble_into_bare_repositories() {
    let place = Place::new();
    place.repository("project");
    git(&place.path, ["clone", "--quiet", "--bare", "project", "project.git"]);
    git(&place.path.join("project.git"), ["worktree", "add", "--quiet", "../tree", "main"]);
    write(&place.folder("home"), ".gitconfig", b"[safe]\n\tbareRepository = explicit\n");
    let variables = [("HOME", place.folder("home").into())];
    let tree = place.path.join("tree");
    assert!(probe(&tree, &variables).contains(&answer(&tree)));
    let refused = probe(&place.path.join("project.git"), &variables);
    assert!(refused.contains("safe.bareRepository"), "{refused}");
}

#[test]
fn without_git_the_answer_is_to_install_it() {
    let place = Place::new();
    let top = place.repository("project");
    let refused = probe(&top, &[("PATH", place.folder("empty").into())]);
    assert!(refused.contains("Err(GitMissing)"), "{refused}");
}

#[test]
fn a_repository_cannot_say_that_other_folders_are_its_files() {
    let place = Place::new();
    let victim = place.repository("victim");
    let hostile = place.repository("outer/hostile");
    let deep = place.folder("outer/hostile/deep");
    let tree = place.path.join("tree");
    git(&hostile, ["worktree", "add", "--quiet", "--detach", "../../tree"]);
    for target in [&victim, &place.path, &place.path.join("outer"), &deep] {
        git(&hostile, ["config", "core.worktree", target.to_str().unwrap()]);
        for from in [&hostile, &deep, &hostile.join(".git"), &tree] {
            let refused = discover(from).unwrap_err();
            assert!(
                matches!(refused, Error::CheckoutElsewhere { .. }),
                "from {} with files in {}: {refused}",
                from.display(),
                target.display()
            );
            assert!(refused.to_string().contains("--unset core.worktree"), "{refused}");
        }
    }
    git(&hostile, ["config", "core.worktree", hostile.to_str().unwrap()]);
    assert_eq!(found(&deep).checkout, Some(hostile.clone()), "what is so anyway may be said");
    assert_eq!(found(&tree).main_checkout, Some(hostile));
    assert_eq!(found(&victim).checkout, Some(victim));
}
