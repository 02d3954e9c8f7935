//! What a delivery needs of git: one commit on the newest base, made from a snapshot, and brought to where it belongs.
//!
//! All of it is made in our own repository of snapshots, which has no hooks, no filters and no settings but ours. From
//! the user's own configuration comes who they are and how they sign; from a repository only words, never a program.

mod added;
mod commit;
mod outward;

pub use added::TakeLine;
pub use commit::{Author, NewCommit, Signing, user_identity, wants_signature};
pub(crate) use outward::check_branch;
pub use outward::{Push, put_branch, remote_address};

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::command::Git;
use crate::snapshot::Snapshots;
use crate::{Error, ObjectId};

/// Whatever the user chose for their own remote, but nothing that runs a program of the address's choosing.
const PROTOCOLS: &str = "file:git:http:https:ssh";
const TIMEOUT: Duration = Duration::from_mins(10);
const FILE_LIMIT_BYTES: usize = 1024 * 1024;
const LIST_LIMIT_BYTES: usize = 512 * 1024 * 1024;
const NO_RENAMES: [&str; 2] = ["merge.renames=false", "merge.directoryRenames=false"];

/// What became of two lines of work put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    Tree(ObjectId),
    /// These files were changed in both, in the same places.
    Conflict(Vec<String>),
}

impl Snapshots {
    /// The tree of a change, made from `start`, on top of another commit: a three-way merge, so nothing of either is lost.
    ///
    /// What the change is was decided by comparing it with its start, so `start` is what both are compared with here. Git
    /// would choose the newest commit that both histories have: after somebody took commits out of a branch that is an older
    /// one, and all that was taken out would come back as if the change had brought it. Nor are files followed that were
    /// moved on the other side: the change would reach paths that nobody judged.
    pub fn join(&self, start: &ObjectId, tree: &ObjectId, onto: &ObjectId) -> Result<Joined, Error> {
        if start == onto {
            return Ok(Joined::Tree(tree.clone()));
        }
        let change = self.bare_commit(tree, start)?;
        let joining = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z"];
        let git = NO_RENAMES.iter().fold(self.neutral(), Git::setting);
        let git = git.args(joining).args([&format!("--merge-base={start}"), onto.as_str(), change.as_str()]);
        let answer = git.answer_limit_bytes(LIST_LIMIT_BYTES).run()?;
        if !matches!(answer.status, 0 | 1) {
            return Err(answer.failed());
        }
        let words: Vec<&[u8]> =
            answer.stdout.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
        let joined = words.first().and_then(|word| str::from_utf8(word).ok()).and_then(ObjectId::parse);
        match (answer.status, joined) {
            (0, Some(joined)) => self.unless_beyond([start, &change], [onto, &joined]),
            (1, Some(_)) => {
                let files = words[1..].iter().map(|file| String::from_utf8_lossy(file).into_owned());
                let mut files: Vec<String> = files.collect();
                files.dedup();
                Ok(Joined::Conflict(files))
            }
            (_, _) => Err(answer.unknown()),
        }
    }

    /// Git follows files that were moved, and not every version can be told not to. Where that leads the change to another
    /// path, whoever made it has to look again.
    fn unless_beyond(&self, change: [&ObjectId; 2], joined: [&ObjectId; 2]) -> Result<Joined, Error> {
        let paths = |[old, new]: [&ObjectId; 2]| -> Result<BTreeSet<PathBuf>, Error> {
            Ok(self.changes_between(old, new)?.into_iter().map(|change| change.path).collect())
        };
        let (wanted, reached) = (paths(change)?, paths(joined)?);
        let beyond: Vec<String> =
            reached.difference(&wanted).map(|path| path.to_string_lossy().into_owned()).collect();
        Ok(if beyond.is_empty() { Joined::Tree(joined[1].clone()) } else { Joined::Conflict(beyond) })
    }

    /// The tree that a commit holds.
    pub fn tree_of_commit(&self, commit: &ObjectId) -> Result<ObjectId, Error> {
        let asking = ["rev-parse", "--verify", "--quiet", &format!("{commit}^{{tree}}")];
        self.git().args(asking).run()?.object_id()
    }

    /// What a commit was made on; none for a first one.
    pub fn first_parent(&self, commit: &ObjectId) -> Result<Option<ObjectId>, Error> {
        let asking = ["rev-parse", "--verify", "--quiet", &format!("{commit}^1")];
        let answer = self.git().args(asking).run()?;
        if answer.status == 1 { Ok(None) } else { answer.object_id().map(Some) }
    }

    /// Whether a commit is in the history of another.
    pub fn is_in(&self, commit: &ObjectId, history_of: &ObjectId) -> Result<bool, Error> {
        let asking = ["merge-base", "--is-ancestor", commit.as_str(), history_of.as_str()];
        let answer = self.git().args(asking).run()?;
        match answer.status {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(answer.failed()),
        }
    }

    /// A file of a commit, if it is there and of a size that somebody reads.
    pub fn file_of(&self, commit: &ObjectId, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let asking = ["cat-file", "blob", &format!("{commit}:{path}")];
        match self.git().args(asking).answer_limit_bytes(FILE_LIMIT_BYTES).run() {
            Ok(answer) if answer.status == 0 => answer.succeeded().map(Some),
            Ok(_) | Err(Error::AnswerTooLarge { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names in a folder of a commit.
    pub fn names_in(&self, commit: &ObjectId, folder: &str) -> Result<Vec<String>, Error> {
        let asking = ["ls-tree", "-z", "--name-only", &format!("{commit}:{folder}")];
        let answer = self.git().args(asking).run()?;
        if answer.status != 0 {
            return Ok(Vec::new());
        }
        let names = answer.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// Git on our own repository, for which no attribute of any tree counts: they name how files are merged.
    fn neutral(&self) -> Git {
        self.git().variable("GIT_ATTR_SOURCE", self.empty_tree())
    }
}
