//! Linked worktrees: they share the refs of the repository, so what is made there is seen by everybody.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Checkout, CheckoutKind, NewCheckout, remove_folder};
use crate::command::Git;
use crate::{Error, Repository, discover, resolve};

/// A note beside the place says that it is being made, so that what a crash leaves can be told from work.
pub(super) fn make(new: &NewCheckout<'_>) -> Result<Checkout, Error> {
    let note = note(new.path);
    if note.exists() {
        undo(new)?;
    }
    if fs::symlink_metadata(new.path).is_ok() {
        return Err(Error::CheckoutExists { path: new.path.to_owned() });
    }
    forget_missing(new)?;
    fs::write(&note, b"").map_err(Error::file("write", &note))?;
    let branch = format!("refs/heads/{}", new.branch);
    // A branch of ours that is there was worked on before, and is taken up where it is.
    let (start, is_new) = match resolve(new.main, &branch) {
        Ok(tip) => (tip, false),
        Err(_) => (new.base.clone(), true),
    };
    let mut adding: Vec<OsString> = ["worktree", "add", "--quiet", "--no-checkout"].map(Into::into).into();
    if is_new {
        adding.extend(["-b".into(), new.branch.into(), new.path.into(), start.as_str().into()]);
    } else {
        adding.extend([new.path.into(), new.branch.into()]);
    }
    let added = Git::in_repository(new.main).args(adding).run()?;
    if let Err(error) = added.succeeded() {
        // Nothing was made, so nothing is to be undone by whoever comes next.
        let _ = fs::remove_file(&note);
        return Err(error);
    }
    let checkout = Checkout::open(new.path, CheckoutKind::Linked, &new.main.common_dir)?;
    checkout.fill(&start)?;
    fs::remove_file(&note).map_err(Error::file("remove", &note))?;
    Ok(checkout)
}

fn note(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".making");
    PathBuf::from(name)
}

/// Takes back what an earlier attempt made. Nobody has worked in it, because nobody was told of it.
fn undo(new: &NewCheckout<'_>) -> Result<(), Error> {
    if fs::symlink_metadata(new.path).is_ok() {
        if let Ok(found) = discover(new.path)
            && found.common_dir == new.main.common_dir
        {
            forget(new.main, &found.git_dir)?;
        }
        remove_folder(new.path)?;
    }
    let branch = format!("refs/heads/{}", new.branch);
    // Only where it was put: with another commit on it, it is not ours to delete.
    let deleting = ["update-ref", "-d", &branch, new.base.as_str()];
    Git::in_repository(new.main).args(deleting).run().map(drop)
}

/// Takes a linked worktree out of the list that the repository keeps.
pub(crate) fn forget(main: &Repository, git_dir: &Path) -> Result<(), Error> {
    // Whatever else a path may name, only entries of that list are removed.
    if git_dir.parent() != Some(&main.common_dir.join("worktrees")) {
        return Ok(());
    }
    remove_folder(git_dir)
}

/// Git goes on listing a worktree whose folder is gone, and makes no other in its place.
fn forget_missing(new: &NewCheckout<'_>) -> Result<(), Error> {
    let entries = fs::read_dir(new.main.common_dir.join("worktrees")).into_iter().flatten().flatten();
    for entry in entries.map(|entry| entry.path()) {
        let named = fs::read(entry.join("gitdir")).unwrap_or_default();
        if named.trim_ascii_end() == new.path.join(".git").as_os_str().as_bytes() {
            forget(new.main, &entry)?;
        }
    }
    Ok(())
}
