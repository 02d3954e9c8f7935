//! What a session has changed, whether all of it is kept by commits, and whether the base has it.

use std::path::PathBuf;

use super::listing::paths;
use super::{LIST_LIMIT_BYTES, Snapshots, TakeSnapshot};
use crate::base::remote;
use crate::{Error, ObjectId, Repository, resolve};

/// How far back a squash is looked for in the base.
const LOOK_BACK: &str = "--max-count=100";

/// A file that differs from the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    /// From a file to a link or the like.
    TypeChanged,
}

/// What happened to files since a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    pub changes: Vec<Change>,
    /// `None` if it is too long to be read.
    pub patch: Option<Vec<u8>>,
}

/// The branch that work is meant for, and the commit of it that the work began at.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub branch: &'a str,
    pub base: &'a ObjectId,
}

/// Whether the commits of a session are in the branch that they were made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// There are none.
    NothingToMerge,
    ByHistory {
        into: String,
    },
    /// Squashed or picked: merging would change nothing.
    ByContent {
        into: String,
    },
    No,
}

impl Snapshots {
    /// The files that differ from the base, untracked ones among them.
    pub fn changes(&self, wanted: &TakeSnapshot<'_>) -> Result<Vec<Change>, Error> {
        let tree = self.clean_tree(wanted)?;
        self.changes_between(wanted.base, &tree)
    }

    /// The same as a patch.
    pub fn patch(&self, wanted: &TakeSnapshot<'_>) -> Result<Vec<u8>, Error> {
        let tree = self.clean_tree(wanted)?;
        let showing = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--binary"];
        let git = self.git().args(showing).args([wanted.base.as_str(), tree.as_str()]);
        git.answer_limit_bytes(LIST_LIMIT_BYTES).run()?.succeeded()
    }

    /// What differs from another snapshot or tree, with a patch if that is not longer than `limit_bytes`.
    pub fn since(
        &self,
        wanted: &TakeSnapshot<'_>,
        from: &ObjectId,
        limit_bytes: usize,
    ) -> Result<Since, Error> {
        let tree = self.current_tree(wanted)?;
        let changes = self.changes_between(from, &tree)?;
        let showing = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"];
        let git = self.git().args(showing).args([from.as_str(), tree.as_str()]);
        let patch = match git.answer_limit_bytes(limit_bytes).run() {
            Err(Error::AnswerTooLarge { .. }) => None,
            shown => Some(shown?.succeeded()?),
        };
        Ok(Since { changes, patch })
    }

    pub(super) fn current_tree(&self, wanted: &TakeSnapshot<'_>) -> Result<ObjectId, Error> {
        let _turn = self.turn(wanted.session)?;
        self.tree_of(wanted, &[]).map(|(tree, _)| tree)
    }

    /// The files that differ between two trees that this repository holds.
    pub fn changes_between(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<Change>, Error> {
        let asking = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", old.as_str(), new.as_str()];
        let stdout = self.git().args(asking).answer_limit_bytes(LIST_LIMIT_BYTES).run()?.succeeded()?;
        let words = paths(&stdout);
        let changes = words.chunks_exact(2).map(|pair| {
            let kind = match pair[0].to_str() {
                Some("A") => ChangeKind::Added,
                Some("D") => ChangeKind::Deleted,
                Some("T") => ChangeKind::TypeChanged,
                _ => ChangeKind::Modified,
            };
            Change { kind, path: pair[1].clone() }
        });
        Ok(changes.collect())
    }

    /// What is in the files of a snapshot and in no commit.
    pub fn uncommitted(&self, wanted: &TakeSnapshot<'_>, tree: &ObjectId) -> Result<Vec<Change>, Error> {
        let Some(head) = wanted.checkout.head() else { return self.changes_between(&self.empty_tree, tree) };
        let asking = ["rev-parse", "--verify", "--quiet", &format!("{head}^{{tree}}")];
        let committed = self.git_with(wanted.checkout).args(asking).run()?.object_id()?;
        let asking =
            ["diff-tree", "-r", "-z", "--name-status", "--no-renames", committed.as_str(), tree.as_str()];
        let git = self.git_with(wanted.checkout).args(asking).answer_limit_bytes(LIST_LIMIT_BYTES);
        let names = paths(&git.run()?.succeeded()?);
        let suspects: Vec<PathBuf> = names.chunks_exact(2).map(|pair| pair[1].clone()).collect();
        self.really_changed(wanted, &head, suspects)
    }

    /// Bytes may differ from those of the commit only because of line endings, which attributes ask for.
    fn really_changed(
        &self,
        wanted: &TakeSnapshot<'_>,
        head: &ObjectId,
        suspects: Vec<PathBuf>,
    ) -> Result<Vec<Change>, Error> {
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let index = self.index(&format!("{}-compare", wanted.session));
        let git = || {
            let git = self.git_with(wanted.checkout).directory(&wanted.checkout.path);
            let git = git.variable("GIT_WORK_TREE", &wanted.checkout.path);
            git.variable("GIT_INDEX_FILE", &index).answer_limit_bytes(LIST_LIMIT_BYTES)
        };
        git().args(["read-tree", "--reset", head.as_str()]).run()?.succeeded()?;
        // Its status says whether anything is stale, which is asked next.
        git().args(["update-index", "-q", "--refresh"]).run()?;
        let listed = git().args(["diff-files", "-z", "--name-only", "--ignore-submodules=all"]);
        let changed = paths(&listed.run()?.succeeded()?);
        let known = paths(&git().args(["ls-files", "-z", "--cached"]).run()?.succeeded()?);
        let _ = std::fs::remove_file(&index);
        let changed = suspects.into_iter().filter_map(|path| {
            let kind = match (changed.contains(&path), known.binary_search(&path).is_ok()) {
                (true, _) if !wanted.checkout.path.join(&path).exists() => ChangeKind::Deleted,
                (true, _) => ChangeKind::Modified,
                (false, true) => return None,
                (false, false) => ChangeKind::Added,
            };
            Some(Change { kind, path })
        });
        Ok(changed.collect())
    }

    /// Whether a branch of the main repository has all that was committed in a checkout.
    pub fn merged(&self, main: &Repository, head: &ObjectId, target: Target<'_>) -> Result<Merged, Error> {
        let Target { branch, base } = target;
        if head == base {
            return Ok(Merged::NothingToMerge);
        }
        let mut targets = vec![format!("refs/heads/{branch}")];
        targets.extend(remote(main)?.map(|remote| format!("refs/remotes/{remote}/{branch}")));
        for into in targets {
            let Ok(target) = resolve(main, &into) else { continue };
            let asking = ["merge-base", "--is-ancestor", head.as_str(), target.as_str()];
            if self.git().args(asking).run()?.status == 0 {
                return Ok(Merged::ByHistory { into });
            }
            if self.has_content(&target, head)? {
                return Ok(Merged::ByContent { into });
            }
        }
        Ok(Merged::No)
    }

    /// Whether merging would have changed nothing, now or at some commit since the branches parted.
    fn has_content(&self, target: &ObjectId, head: &ObjectId) -> Result<bool, Error> {
        let range = format!("{head}..{target}");
        let walking = ["log", "--first-parent", LOOK_BACK, "--format=%H %T", &range];
        let listed = self.git().args(walking).run()?.line()?;
        for (commit, tree) in listed.lines().filter_map(|line| line.split_once(' ')) {
            let merging = ["merge-tree", "--write-tree", "--no-messages", commit, head.as_str()];
            let answer = self.git().args(merging).run()?;
            // 1 is a conflict; what else goes wrong is no sign of a merge either.
            if answer.status == 0 && answer.line()?.lines().next() == Some(tree) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
