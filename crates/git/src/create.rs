//! Repositories of our own making, for what must not touch anybody's: the demo.

use std::path::Path;

use crate::Error;
use crate::command::Git;

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
