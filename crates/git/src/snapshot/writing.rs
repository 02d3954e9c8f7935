//! From files to a commit in the chain. Nothing counts until the ref of the session is moved, at the very end.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::listing::{LeftOut, Listing, paths};
use super::{News, Snapshot, Snapshots, TakeSnapshot};
use crate::base::{base_ref, is_partial};
use crate::command::Git;
use crate::{CheckoutKind, Error, ObjectId, Repository};

/// Files may change while they are read.
const ATTEMPTS: usize = 3;
/// With more files than this, those that changed are written into one pack. Each would be an object of its own, which
/// takes longer to write than its bytes do, longer to pack, and longest to throw away.
const MANY_FILES: usize = 1000;
/// Above this they are put together.
const MOST_PACKS: usize = 50;
const AUTHOR: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Longhaul"),
    ("GIT_AUTHOR_EMAIL", "longhaul@localhost"),
    ("GIT_COMMITTER_NAME", "Longhaul"),
    ("GIT_COMMITTER_EMAIL", "longhaul@localhost"),
];

impl Snapshots {
    /// With files that are kept though they are ignored, because something will be put in their place.
    pub(super) fn take_with(&self, wanted: &TakeSnapshot<'_>, more: &[PathBuf]) -> Result<Snapshot, Error> {
        let (tree, mut left_out) = self.tree_of(wanted, more)?;
        let head = wanted.checkout.head();
        let tips = match tips(wanted, head.as_ref()) {
            Ok(tips) => tips,
            Err(error) => {
                left_out.push(LeftOut::Commits { because: error.to_string() });
                Vec::new()
            }
        };
        let before = self.latest(wanted.session)?;
        if let Some(id) = &before
            && self.parts_of(id)? == (tree.clone(), tips.clone())
        {
            return Ok(Snapshot { id: id.clone(), tree, head, news: News::AsBefore, left_out });
        }
        let id = self.commit(wanted, &tree, before.as_ref(), &tips)?;
        if let Err(error) = self.own(wanted, &id, before.as_ref()) {
            // Better the files without the commits than neither.
            if tips.is_empty() {
                return Err(error);
            }
            left_out.push(LeftOut::Commits { because: error.to_string() });
            let id = self.commit(wanted, &tree, before.as_ref(), &[])?;
            self.own(wanted, &id, before.as_ref())?;
            self.move_ref(wanted.session, &id, before.as_ref())?;
            return Ok(Snapshot { id, tree, head, news: News::New, left_out });
        }
        self.move_ref(wanted.session, &id, before.as_ref())?;
        Ok(Snapshot { id, tree, head, news: News::New, left_out })
    }

    /// Writes all files and the tree that they make, without moving anything.
    pub(super) fn tree_of(
        &self,
        wanted: &TakeSnapshot<'_>,
        more: &[PathBuf],
    ) -> Result<(ObjectId, Vec<LeftOut>), Error> {
        let index = self.index(wanted.session);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let listing = self.listing(wanted, more)?;
            match self.update_index(wanted, &index, &listing) {
                Ok(()) => {
                    let git = self.git_on(&wanted.checkout.path, &index);
                    let tree = git.args(["write-tree"]).run()?.object_id()?;
                    return Ok((tree, listing.left_out.into_iter().collect()));
                }
                Err(Error::Failed { .. }) if attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn index(&self, session: &str) -> PathBuf {
        self.repository.git_dir.join("longhaul").join(format!("{session}.index"))
    }

    /// The index remembers size and times of each file, so that only what changed is read again.
    fn update_index(&self, wanted: &TakeSnapshot<'_>, index: &Path, listing: &Listing) -> Result<(), Error> {
        let git = || self.git_on(&wanted.checkout.path, index).label(self.label(wanted.session));
        let known = if let Ok(stdout) = git().args(["ls-files", "-z", "--cached"]).run()?.succeeded() {
            paths(&stdout)
        } else {
            // It is a memory and nothing more.
            fs::remove_file(index).map_err(Error::file("remove", index))?;
            Vec::new()
        };
        let gone: Vec<&Path> =
            known.iter().filter(|path| !listing.files.contains(*path)).map(PathBuf::as_path).collect();
        if !gone.is_empty() {
            let removing = ["update-index", "--force-remove", "-z", "--stdin"];
            git().args(removing).stdin(joined(gone)).run()?.succeeded()?;
        }
        let adding = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        let files = joined(listing.files.iter().map(PathBuf::as_path));
        // What is above the threshold goes into a pack at once, and into the same one.
        let git =
            if listing.files.len() > MANY_FILES { git().setting("core.bigFileThreshold=1") } else { git() };
        git.args(adding).stdin(files).run()?.succeeded().map(drop)
    }

    /// The tree of a snapshot, and the commits that it keeps.
    pub(super) fn parts_of(&self, id: &ObjectId) -> Result<(ObjectId, Vec<ObjectId>), Error> {
        let format = "--format=%T %P %(trailers:key=Before,valueonly,separator=%x20)";
        let asking = ["log", "--no-walk", format, id.as_str()];
        let line = self.git().args(asking).run()?.line()?;
        let mut ids: Vec<ObjectId> = line.split(' ').filter_map(ObjectId::parse).collect();
        if ids.is_empty() {
            return Err(Error::UnknownAnswer { command: "git log".into(), answer: line });
        }
        let tree = ids.remove(0);
        // The last word names the snapshot before, which is also the first parent.
        if ids.len() > 1 && ids.first() == ids.last() {
            ids.pop();
            ids.remove(0);
        }
        Ok((tree, ids))
    }

    fn commit(
        &self,
        wanted: &TakeSnapshot<'_>,
        tree: &ObjectId,
        before: Option<&ObjectId>,
        tips: &[ObjectId],
    ) -> Result<ObjectId, Error> {
        let because = wanted.because.lines().next().unwrap_or_default();
        let mut message = format!("{because}\n\nSession: {}\n", wanted.session);
        if let Some(head) = wanted.checkout.head() {
            message.extend(["Head: ", head.as_str(), "\n"]);
        }
        if let Some(before) = before {
            message.extend(["Before: ", before.as_str(), "\n"]);
        }
        let parents = before.into_iter().chain(tips).flat_map(|id| ["-p", id.as_str()]);
        let mut git = self.git_with(wanted.checkout);
        for (name, value) in AUTHOR {
            git = git.variable(name, value);
        }
        let git = git.args(["commit-tree", tree.as_str()]).args(parents).args(["-F", "-"]);
        git.stdin(message.into_bytes()).run()?.object_id()
    }

    /// Brings everything that is not in the base into our own repository. Git does not write again what it finds
    /// where it borrows, and there it may be thrown away.
    fn own(&self, wanted: &TakeSnapshot<'_>, id: &ObjectId, before: Option<&ObjectId>) -> Result<(), Error> {
        let mut lines = format!("{id}\n^{}\n", wanted.base);
        if let Some(before) = before {
            lines.extend(["^", before.as_str(), "\n"]);
        }
        let folder = self.repository.git_dir.join("objects/pack");
        let mut packing: Vec<OsString> =
            ["pack-objects", "--revs", "--non-empty", "--quiet"].map(Into::into).into();
        if is_partial(&Repository::bare(self.main_dir.clone()))? {
            packing.push("--missing=allow-any".into());
        }
        // What lies in a pack of ours already is ours, and is not written twice.
        packing.extend(packs_in(&folder)?.into_iter().map(|name| {
            let mut kept = OsString::from("--keep-pack=");
            kept.push(name);
            kept
        }));
        packing.push(folder.join("pack").into());
        self.git_with(wanted.checkout).args(packing).stdin(lines.into_bytes()).run()?.succeeded()?;
        self.git().args(["prune-packed", "--quiet"]).run()?.succeeded()?;
        self.put_packs_together()
    }

    fn put_packs_together(&self) -> Result<(), Error> {
        let folder = self.repository.git_dir.join("objects/pack");
        if packs_in(&folder)?.len() <= MOST_PACKS {
            return Ok(());
        }
        // Never with `-l`: it leaves out what is also found where we borrow.
        self.git().args(["repack", "--quiet", "-d", "--geometric=2"]).run()?.succeeded().map(drop)
    }

    fn move_ref(&self, session: &str, to: &ObjectId, before: Option<&ObjectId>) -> Result<(), Error> {
        let zeros = "0".repeat(to.as_str().len());
        let name = base_ref(session)?;
        let moving = ["update-ref", &name, to.as_str(), before.map_or(&*zeros, ObjectId::as_str)];
        self.git().args(moving).run()?.succeeded().map(drop)
    }
}

/// The commits that must outlive the checkout: its head, and in a clone every branch, tag and stash.
fn tips(wanted: &TakeSnapshot<'_>, head: Option<&ObjectId>) -> Result<Vec<ObjectId>, Error> {
    let mut tips: Vec<ObjectId> = head.cloned().into_iter().collect();
    if wanted.checkout.kind == CheckoutKind::Borrowed {
        let format = "--format=%(objecttype) %(objectname) %(*objecttype) %(*objectname)";
        let repository = wanted.checkout.repository();
        let listed = Git::in_repository(&repository).isolated().args(["for-each-ref", format]);
        let listed = listed.answer_limit_bytes(super::LIST_LIMIT_BYTES).run()?.line()?;
        tips.extend(listed.lines().filter_map(commit_in));
    }
    let mut seen = std::collections::BTreeSet::from([wanted.base.clone()]);
    tips.retain(|tip| seen.insert(tip.clone()));
    Ok(tips)
}

/// The commit that a line of a listing names, itself or through a tag.
fn commit_in(line: &str) -> Option<ObjectId> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["commit", id, ..] | [_, _, "commit", id] => ObjectId::parse(id),
        _ => None,
    }
}

/// The names of the packs in a folder.
fn packs_in(folder: &Path) -> Result<Vec<OsString>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::file("list", folder))?,
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    Ok(names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "pack")).collect())
}

pub(super) fn joined<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<u8> {
    paths.into_iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"]).collect::<Vec<_>>().concat()
}
