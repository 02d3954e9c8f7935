//! Where a path stands without asking git, and that it is where git says.

use std::fs;

use longhaul_git::{CheckoutKind, Error, linked_worktrees, whereabouts};

use crate::support::{Place, found, git};
use crate::work::{BRANCH, Work};

#[test]
fn it_says_what_git_says_from_everywhere() {
    let work = Work::begin(CheckoutKind::Linked);
    let bare = work.place.folder("bare.git");
    git(&bare, ["init", "--quiet", "--bare"]);
    let below = work.top().join("deep/er");
    fs::create_dir_all(&below).unwrap();
    for path in [work.project(), work.project().join(".longhaul"), work.top().to_owned(), below, bare] {
        let (said, asked) = (whereabouts(&path).unwrap(), found(&path));
        assert_eq!(
            (said.top, said.git_dir, said.common_dir),
            (asked.checkout, asked.git_dir, asked.common_dir),
            "{}",
            path.display()
        );
    }
    assert_eq!(whereabouts(work.top()).unwrap().branch().as_deref(), Some(BRANCH));
    assert_eq!(linked_worktrees(&work.main.common_dir).unwrap(), [work.top()]);
}

#[test]
fn a_path_in_no_repository_or_with_a_broken_link_is_told_so() {
    let place = Place::new();
    assert!(matches!(whereabouts(&place.path), Err(Error::NotARepository { .. })));
    fs::write(place.path.join(".git"), b"gitdir: /nowhere/at/all\n").unwrap();
    assert!(matches!(whereabouts(&place.path), Err(Error::BrokenLink { .. })));
    let missing = place.path.join("missing");
    assert!(matches!(whereabouts(&missing), Err(Error::PathUnreadable { .. })));
}

#[test]
fn a_list_of_worktrees_that_cannot_be_read_is_not_an_empty_one() {
    let work = Work::begin(CheckoutKind::Linked);
    let entry = fs::read_dir(work.main.common_dir.join("worktrees")).unwrap().next().unwrap().unwrap();
    fs::remove_file(entry.path().join("gitdir")).unwrap();
    assert!(linked_worktrees(&work.main.common_dir).is_err());
}
