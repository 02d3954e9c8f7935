//! Repositories of our own making, for what must not touch anybody's: the demo.

use std::path::Path;

use crate::command::Git;
use crate::{Error, ObjectId};

/// A repository that does not exist yet.
#[derive(Debug, Clone, Copy)]
pub struct NewRepository<'a> {
    /// The folder with the files of its first commit.
    pub directory: &'a Path,
    /// A bare repository that becomes its `origin`, and gets the commit too.
    pub origin: &'a Path,
    pub branch: &'a str,
    pub message: &'a str,
    /// Who makes the commit.
    pub name: &'a str,
    pub email: &'a str,
}

/// Makes a repository of a folder, commits all that is in it, and pushes that.
pub fn create(new: &NewRepository<'_>) -> Result<(), Error> {
    let git = || Git::in_directory(new.directory).isolated();
    let done = |git: Git| git.run()?.succeeded().map(drop);
    done(git().args(["init", "--quiet", "--template=", "--initial-branch", new.branch]))?;
    done(git().args(["config", "user.name", new.name]))?;
    done(git().args(["config", "user.email", new.email]))?;
    done(git().args(["add", "--all"]))?;
    done(git().setting("commit.gpgSign=false").args(["commit", "--quiet", "--message", new.message]))?;
    done(git().args(["remote", "add", "origin"]).args([new.origin]))?;
    let push =
        git().allow_protocols("file").args(["push", "--quiet", "--set-upstream", "origin", new.branch]);
    done(push)
}

/// What the newest commits of a branch of a bare repository changed since its first one, as a patch.
pub fn diff_of_branch(bare: &Path, branch: &str, limit_bytes: usize) -> Result<Vec<u8>, Error> {
    let git = || Git::in_directory(bare).isolated();
    let first = git().args(["rev-list", "--max-parents=0", "--max-count=1", branch]).run()?.object_id()?;
    let range = format!("{first}..{branch}");
    let diff = git().answer_limit_bytes(limit_bytes).args(["diff", "--no-ext-diff", "--no-textconv", &range]);
    diff.run()?.succeeded()
}

/// The tree of a branch of a bare repository, if there is such a branch.
pub fn tree_of_branch(bare: &Path, branch: &str) -> Result<Option<ObjectId>, Error> {
    let revision = format!("refs/heads/{branch}^{{tree}}");
    let answer =
        Git::in_directory(bare).isolated().args(["rev-parse", "--quiet", "--verify", &revision]).run()?;
    if answer.status == 0 { answer.object_id().map(Some) } else { Ok(None) }
}
