//! Where a checkout stands. A branch without commits, a detached head and a damaged one are told apart.

use crate::command::Git;
use crate::{Error, ObjectId, Repository};

const BRANCHES: &str = "refs/heads/";

/// The head of a checkout or of a bare repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// On a branch. Its name is without `refs/heads/`.
    Branch { name: String, commit: ObjectId },
    /// On a branch that has no commit yet.
    Unborn { branch: String },
    /// On a commit and no branch.
    Detached { commit: ObjectId },
}

impl Head {
    /// The branch, with or without a commit.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Self::Branch { name, .. } | Self::Unborn { branch: name } => Some(name),
            Self::Detached { .. } => None,
        }
    }

    /// The commit, if there is one yet.
    pub fn commit(&self) -> Option<&ObjectId> {
        match self {
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(commit),
            Self::Unborn { .. } => None,
        }
    }
}

/// Where the head of the checkout that was discovered is now.
pub fn head(repository: &Repository) -> Result<Head, Error> {
    let Some(reference) = symbolic_head(repository)? else {
        return Ok(Head::Detached { commit: resolve(repository, "HEAD")? });
    };
    let name = reference.strip_prefix(BRANCHES).unwrap_or(&reference).to_owned();
    // Of the branch just read, not of `HEAD` again, which may have moved to another meanwhile.
    Ok(match tip(repository, &reference)? {
        Some(commit) => Head::Branch { name, commit },
        None => Head::Unborn { branch: name },
    })
}

/// The commit that a revision such as `main`, `HEAD~2` or a short id names.
pub fn resolve(repository: &Repository, revision: &str) -> Result<ObjectId, Error> {
    let missing =
        || Error::RevisionMissing { revision: revision.to_owned(), git_dir: repository.git_dir.clone() };
    // Git would take it for an option.
    if revision.starts_with('-') || revision.contains('\0') {
        return Err(missing());
    }
    let peeled = format!("{revision}^{{commit}}");
    let answer = Git::in_repository(repository).args(["rev-parse", "--verify", "--quiet", &peeled]).run()?;
    match answer.status {
        0 => {}
        1 => return Err(missing()),
        _ => return Err(answer.failed()),
    }
    // Git also answers with what is not one commit, such as `^main`.
    let id = str::from_utf8(&answer.stdout).ok().and_then(|text| ObjectId::parse(text.trim_end()));
    id.ok_or_else(missing)
}

/// The full name of the branch that the head is on, if it is on one.
fn symbolic_head(repository: &Repository) -> Result<Option<String>, Error> {
    let answer = Git::in_repository(repository).args(["symbolic-ref", "--quiet", "HEAD"]).run()?;
    // This is the answer for a head that is on no branch. Other failures are damage.
    if answer.status == 1 {
        return Ok(None);
    }
    let mut name = answer.succeeded()?;
    name.pop_if(|last| *last == b'\n');
    match String::from_utf8(name) {
        Ok(name) => Ok(Some(name)),
        Err(error) => Err(Error::BranchName { name: String::from_utf8_lossy(error.as_bytes()).into_owned() }),
    }
}

/// The commit of a branch; `None` if there is no such branch.
fn tip(repository: &Repository, reference: &str) -> Result<Option<ObjectId>, Error> {
    let listing = ["for-each-ref", "--format=%(objectname) %(refname)", reference];
    let answer = Git::in_repository(repository).args(listing).run()?;
    // A branch that is damaged is left out of the list with a warning. It must not pass for one to come.
    if answer.status != 0 || !answer.stderr.is_empty() {
        return Err(answer.failed());
    }
    let Ok(text) = str::from_utf8(&answer.stdout) else { return Err(answer.unknown()) };
    // The list also holds what lies below the name.
    let id = text.lines().filter_map(|line| line.split_once(' ')).find(|(_, name)| *name == reference);
    match id.map(|(id, _)| ObjectId::parse(id)) {
        Some(Some(id)) => Ok(Some(id)),
        Some(None) => Err(answer.unknown()),
        None => Ok(None),
    }
}
