//! What a forge over a bare repository does to its branches. Nothing that the repository configures is run.

use std::fs;
use std::path::Path;

use crate::command::Git;
use crate::delivery::{Author, check_branch};
use crate::{Error, ObjectId, Repository};

/// The bare repository of a forge on this machine.
#[derive(Debug, Clone)]
pub struct Bare {
    repository: Repository,
}

/// How a branch is brought into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeKind {
    /// One commit with all of it.
    Squash,
    /// A commit with both as parents.
    Merge,
    /// The commits one after another on top.
    Rebase,
}

/// Two branches to be brought together.
#[derive(Debug, Clone, Copy)]
pub struct Merging<'a> {
    pub base: &'a ObjectId,
    pub head: &'a ObjectId,
    pub kind: MergeKind,
    pub message: &'a str,
    pub by: &'a Author,
    pub at_s: i64,
}

impl Bare {
    /// Makes an empty repository with its head at a branch.
    pub fn make(folder: &Path, branch: &str) -> Result<Self, Error> {
        check_branch(branch)?;
        fs::create_dir_all(folder).map_err(|source| Error::MakeFolder { path: folder.to_owned(), source })?;
        let folder = fs::canonicalize(folder).map_err(Error::file("look at", folder))?;
        // Without a template there are no hooks, not even samples.
        let making = ["init", "--quiet", "--bare", "--template=", &format!("--initial-branch={branch}"), "."];
        Git::in_directory(&folder).isolated().args(making).run()?.succeeded()?;
        Ok(Self { repository: Repository::bare(folder) })
    }

    /// One that is there.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let folder = fs::canonicalize(folder).map_err(Error::file("look at", folder))?;
        if !folder.join("HEAD").is_file() || !folder.join("objects").is_dir() {
            return Err(Error::NotARepository { path: folder });
        }
        Ok(Self { repository: Repository::bare(folder) })
    }

    pub fn folder(&self) -> &Path {
        &self.repository.git_dir
    }

    /// Where a branch is; `None` if it is not there.
    pub fn branch(&self, name: &str) -> Result<Option<ObjectId>, Error> {
        check_branch(name)?;
        let asking = ["rev-parse", "--verify", "--quiet", &format!("refs/heads/{name}^{{commit}}")];
        let answer = self.git().args(asking).run()?;
        if answer.status == 1 { Ok(None) } else { answer.object_id().map(Some) }
    }

    /// Moves a branch from one commit to another, or says that it is not there any more.
    pub fn move_branch(&self, name: &str, to: &ObjectId, from: &ObjectId) -> Result<(), Error> {
        check_branch(name)?;
        let moving = ["update-ref", &format!("refs/heads/{name}"), to.as_str(), from.as_str()];
        self.git().args(moving).run()?.succeeded().map(drop)
    }

    pub fn remove_branch(&self, name: &str, at: &ObjectId) -> Result<(), Error> {
        check_branch(name)?;
        let removing = ["update-ref", "-d", &format!("refs/heads/{name}"), at.as_str()];
        self.git().args(removing).run()?.succeeded().map(drop)
    }

    pub fn is_in(&self, commit: &ObjectId, history_of: &ObjectId) -> Result<bool, Error> {
        let asking = ["merge-base", "--is-ancestor", commit.as_str(), history_of.as_str()];
        let answer = self.git().args(asking).run()?;
        match answer.status {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(answer.failed()),
        }
    }

    /// The commit that a merge would lead to, without moving anything; `None` if the two do not go together.
    pub fn merged(&self, merging: &Merging<'_>) -> Result<Option<ObjectId>, Error> {
        if merging.kind == MergeKind::Rebase {
            return self.rebased(merging);
        }
        let Some(tree) = self.joined(merging.base, merging.head)? else { return Ok(None) };
        let parents: &[&ObjectId] = match merging.kind {
            MergeKind::Squash => &[merging.base],
            MergeKind::Merge | MergeKind::Rebase => &[merging.base, merging.head],
        };
        self.commit(&tree, parents, merging.message, merging).map(Some)
    }

    /// Each commit of its own on top of the base, as it was signed and dated where nothing has to change.
    fn rebased(&self, merging: &Merging<'_>) -> Result<Option<ObjectId>, Error> {
        if self.is_in(merging.base, merging.head)? {
            return Ok(Some(merging.head.clone()));
        }
        let range = format!("{}..{}", merging.base, merging.head);
        let listed = self.git().args(["rev-list", "--reverse", "--no-merges", &range]).run()?.line()?;
        let mut tip = merging.base.clone();
        for commit in listed.lines().filter_map(ObjectId::parse) {
            let parent = format!("--merge-base={commit}^1");
            let joining =
                ["merge-tree", "--write-tree", "--no-messages", &parent, tip.as_str(), commit.as_str()];
            let answer = self.git().args(joining).run()?;
            if answer.status == 1 {
                return Ok(None);
            }
            let tree = answer.object_id()?;
            let message = self.git().args(["log", "-1", "--format=%B", commit.as_str()]).run()?.line()?;
            tip = self.commit(&tree, &[&tip], &message, merging)?;
        }
        Ok(Some(tip))
    }

    fn joined(&self, base: &ObjectId, head: &ObjectId) -> Result<Option<ObjectId>, Error> {
        let joining = ["merge-tree", "--write-tree", "--no-messages", base.as_str(), head.as_str()];
        let answer = self.git().args(joining).run()?;
        if answer.status == 1 { Ok(None) } else { answer.object_id().map(Some) }
    }

    fn commit(
        &self,
        tree: &ObjectId,
        parents: &[&ObjectId],
        message: &str,
        merging: &Merging<'_>,
    ) -> Result<ObjectId, Error> {
        let mut git = self.git();
        let date = format!("@{} +0000", merging.at_s);
        for role in ["AUTHOR", "COMMITTER"] {
            git = git
                .variable(&format!("GIT_{role}_NAME"), &merging.by.name)
                .variable(&format!("GIT_{role}_EMAIL"), &merging.by.email)
                .variable(&format!("GIT_{role}_DATE"), &date);
        }
        let parents = parents.iter().flat_map(|id| ["-p", id.as_str()]);
        let git = git.args(["commit-tree"]).args(parents).args(["-F", "-", tree.as_str()]);
        git.stdin(message.as_bytes().to_vec()).run()?.object_id()
    }

    fn git(&self) -> Git {
        Git::in_repository(&self.repository).isolated().setting("core.fsync=committed,reference")
    }
}
