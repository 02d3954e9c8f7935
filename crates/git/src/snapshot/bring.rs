//! Bringing a snapshot back. What is there is kept first, and whatever would be written over is kept with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::history::Kept;
use super::listing::LeftOut;
use super::{Snapshot, Snapshots, TakeSnapshot};
use crate::{Checkout, CheckoutKind, Error, NewCheckout, ObjectId};

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What was there before; `None` if the checkout was gone and was made anew.
    pub before: Option<Snapshot>,
    pub tree: ObjectId,
    pub checkout: Checkout,
}

impl Snapshots {
    /// Puts the files of a snapshot in place of what is in the checkout. Its branch, head and index stay as they
    /// are, and ignored files too unless the snapshot has something in their place.
    pub fn restore(&self, wanted: &TakeSnapshot<'_>, snapshot: &Kept) -> Result<Restored, Error> {
        let turn = self.turn(wanted.session)?;
        let top = &wanted.checkout.path;
        let files = self.files_of(&snapshot.tree)?;
        let before = self.take_with(wanted, &in_the_way(top, &files))?;
        refuse_loss(top, &files, &before.left_out)?;
        let git = self.git_on(top, &turn.index).label(self.label(wanted.session));
        let placing = ["read-tree", "--reset", "-u", "--no-recurse-submodules", snapshot.tree.as_str()];
        git.args(placing).run()?.succeeded()?;
        let checkout = wanted.checkout.clone();
        Ok(Restored { before: Some(before), tree: snapshot.tree.clone(), checkout })
    }

    /// Makes a checkout that is gone again, as it was at a snapshot: files, and the branch at its commit.
    pub fn remake(&self, session: &str, new: &NewCheckout<'_>, snapshot: &Kept) -> Result<Restored, Error> {
        let turn = self.turn(session)?;
        let checkout = Checkout::make(new)?;
        if let Some(head) = &snapshot.head {
            self.give_commits(&checkout, head, new.base)?;
            let branch = format!("refs/heads/{}", new.branch);
            let stands = checkout.head();
            // A shared branch that somebody moved on is theirs.
            if stands.as_ref() == Some(new.base) && stands.as_ref() != Some(head) {
                checkout.git()?.args(["update-ref", &branch, head.as_str()]).run()?.succeeded()?;
                checkout.git()?.args(["read-tree", head.as_str()]).run()?.succeeded()?;
            }
        }
        // The memory of the checkout that is gone says nothing about this one.
        if turn.index.exists() {
            fs::remove_file(&turn.index).map_err(Error::file("remove", &turn.index))?;
        }
        let secret: [PathBuf; 0] = [];
        let because = "made anew";
        let wanted = TakeSnapshot { session, checkout: &checkout, base: new.base, because, secret: &secret };
        self.tree_of(&wanted, &[])?;
        let git = self.git_on(&checkout.path, &turn.index).label(self.label(session));
        let placing = ["read-tree", "--reset", "-u", "--no-recurse-submodules", snapshot.tree.as_str()];
        git.args(placing).run()?.succeeded()?;
        Ok(Restored { before: None, tree: snapshot.tree.clone(), checkout })
    }

    /// Commits that only we have, for a clone that does not borrow from us: it must not see other sessions.
    fn give_commits(&self, checkout: &Checkout, head: &ObjectId, base: &ObjectId) -> Result<(), Error> {
        let objects = match checkout.kind {
            CheckoutKind::Borrowed => checkout.git_dir.join("objects/pack"),
            CheckoutKind::Linked => checkout.main_dir.join("objects/pack"),
        };
        fs::create_dir_all(&objects).map_err(Error::file("make", &objects))?;
        let packing = ["pack-objects", "--revs", "--non-empty", "--quiet"];
        let git = self.git().args(packing).args([objects.join("pack")]);
        git.stdin(format!("{head}\n^{base}\n").into_bytes()).run()?.succeeded().map(drop)
    }
}

/// What is there where these files go, though it may be ignored: files, files in place of a folder above, and
/// all that is in a folder of that name.
fn in_the_way(top: &Path, files: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for file in files {
        for above in file.ancestors().filter(|above| !above.as_os_str().is_empty()) {
            if above != file && !seen.insert(above) {
                break;
            }
            match fs::symlink_metadata(top.join(above)) {
                Ok(there) if there.is_dir() && above == file => all_below(top, above, &mut found),
                Ok(there) if !there.is_dir() => found.push(above.to_owned()),
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

fn all_below(top: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(top.join(folder)).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all_below(top, &path, found),
            _ => found.push(path),
        }
    }
}

/// What could not be kept must not be written over.
fn refuse_loss(top: &Path, files: &[PathBuf], left_out: &[LeftOut]) -> Result<(), Error> {
    for lost in left_out {
        let (LeftOut::Unreadable { path } | LeftOut::NotAFile { path } | LeftOut::NestedHistory { path }) =
            lost
        else {
            continue;
        };
        let nested = matches!(lost, LeftOut::NestedHistory { .. });
        let hit = |file: &PathBuf| path.starts_with(file) || (!nested && file.starts_with(path));
        if files.iter().any(hit) {
            return Err(Error::WouldLose { path: top.join(path) });
        }
    }
    Ok(())
}
