//! Why git could not answer. Every message ends in what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Version;

/// What can go wrong when asking git.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("`git` is not on `PATH`; install it")]
    GitMissing,

    #[error("`git` is too old for `{needed}`; install version 2.31 or later")]
    GitTooOld { needed: &'static str },

    #[error("could not find `{}`; check the path", .path.display())]
    PathMissing { path: PathBuf },

    #[error("could not look at `{}`; check its permissions", .path.display())]
    PathUnreadable { path: PathBuf, source: io::Error },

    #[error("`{}` is not in a git repository; make one with `git init` or go to one", .path.display())]
    NotARepository { path: PathBuf },

    #[error("`{}` points to git data that is not there ({message}); repair it with `git worktree repair` or remove its `.git` file", .path.display())]
    BrokenLink { path: PathBuf, message: String },

    #[error(
        "`core.worktree` in the configuration of `{}` names files that are not its own (`{}` does not lead back to it); remove it with `git config --unset core.worktree`",
        .git_dir.display(), .checkout.display()
    )]
    CheckoutElsewhere { git_dir: PathBuf, checkout: PathBuf },

    #[error("the repository at `{}` belongs to another user; if you trust it, run `{remedy}`", .path.display())]
    DubiousOwnership { path: PathBuf, remedy: String },

    #[error("no commit `{revision}` in `{}`; name one that exists or make a first commit", .git_dir.display())]
    RevisionMissing { revision: String, git_dir: PathBuf },

    #[error("`{folder}` does not name a folder of a repository; give a relative path without `.` and `..`")]
    FolderName { folder: String },

    #[error("`{folder}` holds more than {limit_bytes} bytes; take large files out of it")]
    FolderTooLarge { folder: String, limit_bytes: u64 },

    #[error("`{}` is neither a file nor a link (mode {mode}); take it out of the folder", .path.display())]
    UnsupportedEntry { path: PathBuf, mode: String },

    #[error("`{}` is a path that could lead out of its folder; take it out of the commit", .path.display())]
    UnsafePath { path: PathBuf },

    #[error("the content of `{}` is not in this repository; fetch it with `git fetch --refetch` or check with `git fsck`", .path.display())]
    ObjectMissing { path: PathBuf },

    #[error("the branch name `{name}` is not UTF-8; rename it with `git branch -m`")]
    BranchName { name: String },

    #[error("`{url}` cannot be fetched from: {problem}")]
    RemoteName { url: String, problem: &'static str },

    #[error("`{reference}` cannot name a branch, a tag or a commit; check how it is spelled")]
    ReferenceName { reference: String },

    #[error(
        "could not fetch from `{url}` ({message}); check the address, the name of the branch or tag, and your access"
    )]
    FetchFailed { url: String, message: String },

    #[error("could not push `{branch}` to `{url}` ({message}); see what moved it, and your access")]
    PushFailed { url: String, branch: String, message: String },

    #[error(
        "the commit could not be signed ({message}); unlock the key, or set `identity.sign: never` to deliver without a signature"
    )]
    SigningFailed { message: String },

    #[error(
        "{needed} need git {version} or later, and {} is {found}; install a newer git, or put one first on the `PATH`",
        .path.as_ref().map_or_else(|| "the git that was found".to_owned(), |path| format!("`{}`", path.display()))
    )]
    GitOlderThan { needed: &'static str, version: &'static str, found: Version, path: Option<PathBuf> },

    #[error("`{}` is there already; remove it or choose another place", .path.display())]
    CheckoutExists { path: PathBuf },

    #[error("`{}` is not the checkout that was made there: {problem}; leave it alone, or remove it by hand", .path.display())]
    NotOurCheckout { path: PathBuf, problem: &'static str },

    #[error(
        "`{}` is a pipe or a device where git expects a file, and would be waited for for ever; remove it",
        .path.display()
    )]
    Trap { path: PathBuf },

    #[error("`{name}` cannot name a session or a branch of ours; use letters, digits, `-` and `_`")]
    UnfitName { name: String },

    #[error("another process works on `{}`; wait for it to end and try again", .path.display())]
    Locked { path: PathBuf },

    #[error("there is no snapshot `{snapshot}` of `{session}`; list them to choose one")]
    NoSuchSnapshot { snapshot: String, session: String },

    #[error(
        "`{}` could not be kept in a snapshot and would be written over; move it away and try again",
        .path.display()
    )]
    WouldLose { path: PathBuf },

    #[error("could not {doing} `{}`: {source}; check its permissions and the disk", .path.display())]
    File { doing: &'static str, path: PathBuf, source: io::Error },

    #[error("could not make the folder `{}`; check its permissions", .path.display())]
    MakeFolder { path: PathBuf, source: io::Error },

    #[error("`{command}` ended with status {status} ({message}); run it yourself to see more")]
    Failed { command: String, status: i32, message: String },

    #[error("`{command}` took longer than {} seconds; see whether the disk hangs and try again", .timeout.as_secs())]
    TimedOut { command: String, timeout: Duration },

    #[error("`{command}` was ended from outside; try again")]
    Interrupted { command: String },

    #[error("`{command}` answered more than {limit_bytes} bytes; look at what makes the repository so large")]
    AnswerTooLarge { command: String, limit_bytes: usize },

    #[error("`{command}` answered something unknown ({answer}); check the version of `git`")]
    UnknownAnswer { command: String, answer: String },

    #[error("could not run `{command}`; look at the cause and try again")]
    Run { command: String, source: longhaul_exec::Error },
}

impl Error {
    /// For what is done to a file or folder.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }
}
