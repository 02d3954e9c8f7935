//! Removing checkouts. Must never remove what is not kept elsewhere: it is judged, moved aside, judged again, and
//! only then deleted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout::{forget_linked, remove_folder};
use crate::snapshot::{Change, LeftOut, Merged, Snapshot, Snapshots, TakeSnapshot, Target};
use crate::{Checkout, CheckoutKind, Error, Repository};

/// Whether a checkout may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Everything in it is in the base and in this snapshot.
    MayGo {
        merged: Merged,
        snapshot: Snapshot,
    },
    Stays {
        because: Stays,
        snapshot: Snapshot,
    },
}

/// Why a checkout is not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stays {
    /// Files that no commit has.
    Dirty {
        changes: Vec<Change>,
    },
    Unmerged,
    /// A snapshot cannot hold all of it.
    NotKept {
        left_out: Vec<LeftOut>,
    },
    /// Its head cannot be read, so nobody knows what was committed.
    NoHead,
}

impl Snapshots {
    /// Keeps a snapshot of a checkout and says whether it may be removed.
    pub fn judge(
        &self,
        main: &Repository,
        wanted: &TakeSnapshot<'_>,
        base_branch: &str,
    ) -> Result<Fate, Error> {
        let snapshot = self.take(wanted)?;
        let stays = |because, snapshot| Ok(Fate::Stays { because, snapshot });
        if !snapshot.left_out.is_empty() {
            let left_out = snapshot.left_out.clone();
            return stays(Stays::NotKept { left_out }, snapshot);
        }
        let Some(head) = snapshot.head.clone() else { return stays(Stays::NoHead, snapshot) };
        let changes = self.uncommitted(wanted, &snapshot.tree)?;
        if !changes.is_empty() {
            return stays(Stays::Dirty { changes }, snapshot);
        }
        match self.merged(main, &head, Target { branch: base_branch, base: wanted.base })? {
            Merged::No => stays(Stays::Unmerged, snapshot),
            merged @ (Merged::NothingToMerge | Merged::ByHistory { .. } | Merged::ByContent { .. }) => {
                Ok(Fate::MayGo { merged, snapshot })
            }
        }
    }

    /// Removes a checkout that may go. `None` if somebody wrote to it meanwhile: then it stays where it is.
    pub fn remove(
        &self,
        main: &Repository,
        wanted: &TakeSnapshot<'_>,
        judged: &Snapshot,
    ) -> Result<Option<u64>, Error> {
        let _alone = self.removals()?;
        let path = &wanted.checkout.path;
        let (leaving, gone) = (leaving(path), gone(path));
        fs::rename(path, &leaving).map_err(Error::file("move", path))?;
        // From here on nobody finds it under its name, so what is there now is all that there will be.
        let aside = Checkout {
            path: leaving.clone(),
            git_dir: moved(&wanted.checkout.git_dir, path, &leaving),
            ..wanted.checkout.clone()
        };
        let again = self.take(&TakeSnapshot { checkout: &aside, ..*wanted });
        let is_same = again.as_ref().is_ok_and(|again| {
            again.tree == judged.tree && again.head == judged.head && again.left_out.is_empty()
        });
        if !is_same {
            fs::rename(&leaving, path).map_err(Error::file("move", &leaving))?;
            return again.map(|_| None);
        }
        fs::rename(&leaving, &gone).map_err(Error::file("move", &leaving))?;
        if wanted.checkout.kind == CheckoutKind::Linked {
            forget_linked(main, &wanted.checkout.git_dir)?;
        }
        let bytes = size_of(&gone);
        remove_folder(&gone)?;
        Ok(Some(bytes))
    }

    /// Puts right what a crash in the middle of a removal left in the folder of the checkouts: what was not yet sure is
    /// back in its place, and what was sure is deleted. Says what came back and what went.
    pub fn settle_removals(&self, folder: &Path) -> Result<(Vec<PathBuf>, u64), Error> {
        let _alone = self.removals()?;
        let mut back = Vec::new();
        let mut removed = 0;
        let Ok(entries) = fs::read_dir(folder) else { return Ok((back, removed)) };
        for path in entries.flatten().map(|entry| entry.path()) {
            match path.extension().and_then(|end| end.to_str()) {
                Some(LEAVING) => {
                    let place = path.with_extension("");
                    if fs::symlink_metadata(&place).is_err() {
                        fs::rename(&path, &place).map_err(Error::file("move", &path))?;
                        back.push(place);
                    }
                }
                Some(GONE) => {
                    remove_folder(&path)?;
                    removed += 1;
                }
                _ => {}
            }
        }
        Ok((back, removed))
    }
}

const LEAVING: &str = "leaving";
const GONE: &str = "gone";

// Names of checkouts hold no dot, so an ending of ours is never a part of one.
fn leaving(path: &Path) -> PathBuf {
    path.with_extension(LEAVING)
}

fn gone(path: &Path) -> PathBuf {
    path.with_extension(GONE)
}

/// A clone takes its git data with it, a linked worktree leaves it where it is.
fn moved(git_dir: &Path, from: &Path, to: &Path) -> PathBuf {
    git_dir.strip_prefix(from).map_or_else(|_| git_dir.to_owned(), |rest| to.join(rest))
}

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size_of(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
