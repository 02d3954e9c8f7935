//! From any path to its repository.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use longhaul_git::{Error, Kind, Repository, discover, version};

use crate::support::{Place, found, git, write};

fn main_checkout(top: &Path) -> Repository {
    Repository {
        common_dir: top.join(".git"),
        git_dir: top.join(".git"),
        kind: Kind::MainCheckout,
        checkout: Some(top.into()),
        main_checkout: Some(top.into()),
    }
}

fn bare(common_dir: &Path) -> Repository {
    Repository {
        common_dir: common_dir.into(),
        git_dir: common_dir.into(),
        kind: Kind::Bare,
        checkout: None,
        main_checkout: None,
    }
}

fn linked(common_dir: &Path, name: &str, checkout: &Path, main_checkout: Option<&Path>) -> Repository {
    Repository {
        common_dir: common_dir.into(),
        git_dir: common_dir.join("worktrees").join(name),
        kind: Kind::LinkedWorktree,
        checkout: Some(checkout.into()),
        main_checkout: main_checkout.map(Into::into),
    }
}

fn add_worktree(repository: &Path, to: &Path) {
    git(
        repository,
        [OsStr::new("worktree"), "add".as_ref(), "--quiet".as_ref(), "--detach".as_ref(), to.as_ref()],
    );
}

fn clone_bare(from: &Path, to: &Path) {
    let parent = from.parent().expect("a repository of these tests lies in a folder");
    git(parent, [OsStr::new("clone"), "--quiet".as_ref(), "--bare".as_ref(), from.as_ref(), to.as_ref()]);
}

#[test]
fn git_is_there_and_says_its_version() {
    let version = version().unwrap();
    assert!(version.major >= 2);
    let place = Place::new();
    assert!(git(&place.path, ["version"]).contains(&version.to_string()));
}

#[test]
fn a_checkout_is_found_from_its_top_from_below_and_from_a_file() {
    let place = Place::new();
    let top = place.repository("project");
    let deep = place.folder("project/a/b/c");
    write(&deep, "file", b"");
    for path in [top.clone(), top.join("a"), deep.clone(), deep.join("file")] {
        assert_eq!(found(&path), main_checkout(&top), "{path:?}");
    }
}

#[test]
fn a_repository_without_commits_is_found() {
    let place = Place::new();
    git(&place.path, ["init", "--quiet"]);
    assert_eq!(found(&place.path), main_checkout(&place.path));
}

#[test]
fn a_checkout_is_found_through_a_symbolic_link() {
    let place = Place::new();
    let top = place.repository("project");
    place.folder("project/a");
    symlink(top.join("a"), place.path.join("link")).unwrap();
    assert_eq!(found(&place.path.join("link")), main_checkout(&top));
}

#[test]
fn a_linked_worktree_shares_the_repository_of_the_main_checkout() {
    let place = Place::new();
    let top = place.repository("project");
    let tree = place.path.join("tree");
    add_worktree(&top, &tree);
    fs::create_dir(tree.join("a")).unwrap();
    let expected = linked(&top.join(".git"), "tree", &tree, Some(&top));
    assert_eq!(found(&tree), expected);
    assert_eq!(found(&tree.join("a")), expected);
}

#[test]
fn a_bare_repository_is_found_from_any_of_its_folders() {
    let place = Place::new();
    let top = place.repository("project");
    let repository = place.path.join("project.git");
    clone_bare(&top, &repository);
    for path in [repository.clone(), repository.join("refs"), repository.join("refs/heads")] {
        assert_eq!(found(&path), bare(&repository), "{path:?}");
    }
}

#[test]
fn a_worktree_of_a_bare_repository_has_no_main_checkout() {
    let place = Place::new();
    let top = place.repository("project");
    place.folder("home");
    for (name, tree) in [("project.git", "tree"), ("home/.git", "home/main")] {
        let (repository, tree) = (place.path.join(name), place.path.join(tree));
        clone_bare(&top, &repository);
        add_worktree(&repository, &tree);
        let id = tree.file_name().unwrap().to_str().unwrap();
        assert_eq!(found(&tree), linked(&repository, id, &tree, None));
    }
}

#[test]
fn a_worktree_with_configuration_of_its_own_is_told_from_the_bare_repository_around() {
    let place = Place::new();
    let top = place.repository("project");
    git(&top, ["config", "extensions.worktreeConfig", "true"]);
    git(&top, ["config", "--unset", "core.bare"]);
    git(&top, ["config", "--worktree", "core.bare", "true"]);
    let tree = place.path.join("tree");
    add_worktree(&top, &tree);
    assert_eq!(found(&tree), linked(&top.join(".git"), "tree", &tree, None));
}

#[test]
fn the_inside_of_git_data_is_no_checkout() {
    let place = Place::new();
    let top = place.repository("project");
    let tree = place.path.join("tree");
    add_worktree(&top, &tree);
    let inside = |git_dir: PathBuf| Repository {
        common_dir: top.join(".git"),
        git_dir,
        kind: Kind::InsideGitDir,
        checkout: None,
        main_checkout: Some(top.clone()),
    };
    assert_eq!(found(&top.join(".git")), inside(top.join(".git")));
    assert_eq!(found(&top.join(".git/refs/heads")), inside(top.join(".git")));
    assert_eq!(found(&top.join(".git/worktrees/tree")), inside(top.join(".git/worktrees/tree")));
}

#[test]
fn a_submodule_is_a_repository_of_its_own_and_so_are_its_worktrees() {
    let place = Place::new();
    let part = place.repository("part");
    let whole = place.repository("whole");
    git(&whole, [OsStr::new("submodule"), "--quiet".as_ref(), "add".as_ref(), part.as_ref(), "sub".as_ref()]);
    let sub = whole.join("sub");
    let modules = whole.join(".git/modules/sub");
    let submodule =
        Repository { common_dir: modules.clone(), git_dir: modules.clone(), ..main_checkout(&sub) };
    assert_eq!(found(&sub), submodule);
    assert_eq!(found(&sub.join(".longhaul")), submodule);
    assert_eq!(found(&whole), main_checkout(&whole));

    let inside = Repository { kind: Kind::InsideGitDir, checkout: None, ..submodule };
    assert_eq!(found(&modules), inside);

    let tree = place.path.join("tree");
    add_worktree(&sub, &tree);
    assert_eq!(found(&tree), linked(&modules, "tree", &tree, Some(&sub)));
}

#[test]
fn git_data_that_lies_elsewhere_is_found() {
    let place = Place::new();
    let top = place.folder("project");
    let data = place.path.join("data");
    let mut option = std::ffi::OsString::from("--separate-git-dir=");
    option.push(&data);
    git(&top, [OsStr::new("init"), "--quiet".as_ref(), &option]);
    assert_eq!(found(&top), Repository { common_dir: data.clone(), git_dir: data, ..main_checkout(&top) });
}

#[test]
fn paths_with_spaces_newlines_and_bytes_that_are_not_utf8_are_kept() {
    let place = Place::new();
    for name in
        [&b"with space"[..], b"new\nline", b"\n", b"end\n", b"latin-\xe9", b"quote\"s' \\ tab\t", b"-dash"]
    {
        let name = Path::new(OsStr::from_bytes(name));
        let top = place.repository(Path::new("plain").join(name));
        let deep = place.folder(Path::new("plain").join(name).join(name));
        assert_eq!(found(&top), main_checkout(&top), "{name:?}");
        assert_eq!(found(&deep), main_checkout(&top), "{name:?}");

        let inside = Repository { kind: Kind::InsideGitDir, checkout: None, ..main_checkout(&top) };
        assert_eq!(found(&top.join(".git")), inside, "{name:?}");

        let repository = place.folder("bare").join(name);
        clone_bare(&top, &repository);
        assert_eq!(found(&repository), bare(&repository), "{name:?}");

        let tree = place.folder("linked").join(name);
        add_worktree(&top, &tree);
        let worktree = found(&tree);
        assert_eq!(worktree.kind, Kind::LinkedWorktree, "{name:?}");
        assert_eq!(worktree.common_dir, top.join(".git"), "{name:?}");
        assert_eq!(worktree.checkout, Some(tree), "{name:?}");
        assert_eq!(worktree.main_checkout, Some(top), "{name:?}");
    }
}

#[test]
fn a_path_outside_any_repository_is_told_so_with_a_remedy() {
    let place = Place::new();
    let error = discover(&place.path).unwrap_err();
    assert!(matches!(&error, Error::NotARepository { path } if *path == place.path), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` is not in a git repository; make one with `git init` or go to one",
            place.path.display()
        )
    );
}

#[test]
fn a_path_that_does_not_exist_is_told_so() {
    let place = Place::new();
    write(&place.path, "file", b"");
    for name in ["missing", "missing/below", "file/below"] {
        let error = discover(&place.path.join(name)).unwrap_err();
        assert!(matches!(error, Error::PathMissing { .. }), "{name}: {error:?}");
    }
}

#[test]
fn a_worktree_whose_repository_is_gone_is_a_broken_link() {
    let place = Place::new();
    let top = place.repository("project");
    let tree = place.path.join("tree");
    add_worktree(&top, &tree);
    fs::remove_dir_all(&top).unwrap();
    let error = discover(&tree).unwrap_err();
    assert!(matches!(error, Error::BrokenLink { .. }), "{error:?}");
}
