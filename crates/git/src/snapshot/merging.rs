//! What a task would change, and what the base would be with it. Moves no ref and touches no file of anybody's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::listing::paths;
use super::{LIST_LIMIT_BYTES, Snapshots, TakeSnapshot};
use crate::base::is_partial;
use crate::checkout::borrowed_with;
use crate::{Checkout, CheckoutKind, Error, Joined, NewCheckout, ObjectId, Repository};

/// Commits of ours that nobody keeps. The time is always the same, so that the same files are the same commit.
const AUTHOR: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "Longhaul"),
    ("GIT_AUTHOR_EMAIL", "longhaul@localhost"),
    ("GIT_AUTHOR_DATE", "1000000000 +0000"),
    ("GIT_COMMITTER_NAME", "Longhaul"),
    ("GIT_COMMITTER_EMAIL", "longhaul@localhost"),
    ("GIT_COMMITTER_DATE", "1000000000 +0000"),
];

/// What the files of a checkout differ in from its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    pub head: Option<ObjectId>,
    pub tree: ObjectId,
    pub files: Vec<FileChange>,
    /// How many commits were made in it.
    pub commits: u64,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: PathBuf,
    /// Where it was before it was renamed.
    pub from: Option<PathBuf>,
    pub status: FileStatus,
    /// Lines; none where there are no lines to count.
    pub added: Option<u64>,
    pub removed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
    TypeChanged,
}

/// What to merge: files that began at one commit, into another.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'a> {
    /// The commit that the work began at.
    pub start: &'a ObjectId,
    /// The files of the task.
    pub tree: &'a ObjectId,
    pub onto: &'a ObjectId,
}

/// What merging came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeResult {
    Clean {
        tree: ObjectId,
        /// A commit with that tree on top of what was merged into.
        commit: ObjectId,
    },
    Conflict {
        files: Vec<PathBuf>,
    },
}

impl Snapshots {
    /// Reads from git what a task changed, files that nobody committed among them.
    pub fn change(&self, wanted: &TakeSnapshot<'_>) -> Result<ChangeSet, Error> {
        let tree = self.clean_tree(wanted)?;
        let head = wanted.checkout.head();
        let files = self.file_changes(wanted.base, &tree)?;
        let commits = match &head {
            Some(head) if head != wanted.base => self.commits_since(wanted, head)?,
            Some(_) | None => 0,
        };
        Ok(ChangeSet { head, tree, files, commits })
    }

    /// The files of a checkout as git would commit them, as a tree that this repository holds.
    pub fn tree(&self, wanted: &TakeSnapshot<'_>) -> Result<ObjectId, Error> {
        self.clean_tree(wanted)
    }

    /// Whether an object is here, or where it is borrowed from.
    pub fn holds(&self, id: &ObjectId) -> Result<bool, Error> {
        Ok(self.git().args(["cat-file", "-e", id.as_str()]).run()?.status == 0)
    }

    /// Merges the files of a task into a commit, in no checkout.
    ///
    /// Commits that were made on the way have no say in it: one that claims to have merged something, and did not, would
    /// undo that.
    pub fn merge(&self, proposal: &Proposal<'_>) -> Result<MergeResult, Error> {
        let Proposal { start, tree, onto } = *proposal;
        Ok(match self.join(start, tree, onto)? {
            Joined::Conflict(files) => {
                MergeResult::Conflict { files: files.into_iter().map(PathBuf::from).collect() }
            }
            Joined::Tree(tree) => {
                let commit = self.commit_of(&tree, onto)?;
                MergeResult::Clean { tree, commit }
            }
        })
    }

    /// Makes a checkout of a commit that only this repository has. `onto` is one that the main repository has too.
    pub fn lend(&self, new: &NewCheckout<'_>, onto: &ObjectId) -> Result<Checkout, Error> {
        let folder = new.path.parent().ok_or_else(|| Error::CheckoutExists { path: new.path.into() })?;
        std::fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
        let new = NewCheckout { kind: CheckoutKind::Borrowed, ..*new };
        borrowed_with(&new, &|git_dir| self.pack_into(git_dir, new.base, onto))
    }

    fn pack_into(&self, git_dir: &Path, commit: &ObjectId, onto: &ObjectId) -> Result<(), Error> {
        if commit == onto {
            return Ok(());
        }
        let mut packing: Vec<OsString> =
            ["pack-objects", "--revs", "--non-empty", "--quiet"].map(Into::into).into();
        if is_partial(&Repository::bare(self.main_dir.clone()))? {
            packing.push("--missing=allow-any".into());
        }
        packing.push(git_dir.join("objects/pack/pack").into());
        let lines = format!("{commit}\n^{onto}\n");
        self.git().args(packing).stdin(lines.into_bytes()).run()?.succeeded().map(drop)
    }

    fn commit_of(&self, tree: &ObjectId, parent: &ObjectId) -> Result<ObjectId, Error> {
        let mut git = self.git();
        for (name, value) in AUTHOR {
            git = git.variable(name, value);
        }
        let git = git.args(["commit-tree", tree.as_str(), "-p", parent.as_str(), "-m", "for verification"]);
        git.run()?.object_id()
    }

    fn commits_since(&self, wanted: &TakeSnapshot<'_>, head: &ObjectId) -> Result<u64, Error> {
        let range = format!("{}..{head}", wanted.base);
        let line = self.git_with(wanted.checkout).args(["rev-list", "--count", &range]).run()?.line()?;
        line.parse().map_err(|_| Error::UnknownAnswer { command: "git rev-list".into(), answer: line })
    }

    /// The files that differ between two trees, with their lines, renames seen as such.
    pub fn file_changes(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<FileChange>, Error> {
        let ask = |what: &str| {
            let asking = ["diff-tree", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv", what];
            let git = self.git().args(asking).args([old.as_str(), new.as_str()]);
            git.answer_limit_bytes(LIST_LIMIT_BYTES).run()?.succeeded()
        };
        let named = ask("--name-status")?;
        let counted = counts(&ask("--numstat")?);
        let mut words = paths(&named).into_iter();
        let mut files = Vec::new();
        while let (Some(status), Some(path)) = (words.next(), words.next()) {
            let status = status.to_str().and_then(|word| word.chars().next());
            let (status, path, from) = match status {
                Some('A') => (FileStatus::Added, path, None),
                Some('D') => (FileStatus::Deleted, path, None),
                Some('T') => (FileStatus::TypeChanged, path, None),
                Some('R') => match words.next() {
                    Some(to) => (FileStatus::Renamed, to, Some(path)),
                    None => break,
                },
                Some(_) | None => (FileStatus::Modified, path, None),
            };
            let (added, removed) = counted.get(files.len()).copied().unwrap_or_default();
            files.push(FileChange { path, from, status, added, removed });
        }
        Ok(files)
    }
}

/// The lines of each file in the order of the list; a rename names two files after its counts.
fn counts(stdout: &[u8]) -> Vec<(Option<u64>, Option<u64>)> {
    let mut words = stdout.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let mut counted = Vec::new();
    while let Some(word) = words.next() {
        let text = String::from_utf8_lossy(word);
        let mut parts = text.splitn(3, '\t');
        let (added, removed, path) = (parts.next(), parts.next(), parts.next());
        counted.push((number(added), number(removed)));
        if path.is_none_or(str::is_empty) {
            words.nth(1);
        }
    }
    counted
}

fn number(word: Option<&str>) -> Option<u64> {
    word.and_then(|word| word.parse().ok())
}
