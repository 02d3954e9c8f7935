//! The snapshots that a session has.

use std::path::PathBuf;

use super::Snapshots;
use super::listing::paths;
use crate::base::base_ref;
use crate::{Error, ObjectId};

/// A snapshot in the chain of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub id: ObjectId,
    pub tree: ObjectId,
    pub head: Option<ObjectId>,
    /// Seconds since 1970.
    pub at_s: i64,
    pub because: String,
}

impl Snapshots {
    /// All snapshots of a session, the newest first.
    pub fn list(&self, session: &str) -> Result<Vec<Kept>, Error> {
        let Some(mut id) = self.latest(session)? else { return Ok(Vec::new()) };
        // The first snapshot has commits of the session as its parents, so the chain ends by what it says itself.
        let format = "--format=%H %T %ct %(trailers:key=Before,valueonly,separator=) %(trailers:key=Head,valueonly,separator=) %s";
        let walking = ["log", "--first-parent", "--max-count=10000", "-z", format, id.as_str()];
        let stdout =
            self.git().args(walking).answer_limit_bytes(super::LIST_LIMIT_BYTES).run()?.succeeded()?;
        let mut kept = Vec::new();
        for line in paths(&stdout) {
            let line = line.to_string_lossy().into_owned();
            let mut words = line.splitn(6, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (found, tree, at, before, head) = (word(), word(), word(), word(), word());
            let (Some(found), Some(tree), Ok(at_s)) =
                (ObjectId::parse(found), ObjectId::parse(tree), at.parse())
            else {
                return Err(Error::UnknownAnswer { command: "git log".into(), answer: line });
            };
            if found != id {
                break;
            }
            let (before, head) = (ObjectId::parse(before), ObjectId::parse(head));
            kept.push(Kept { id: found, tree, head, at_s, because: word().to_owned() });
            match before {
                Some(before) => id = before,
                None => break,
            }
        }
        Ok(kept)
    }

    /// The snapshot that a person means by its id or the beginning of it.
    pub fn find(&self, session: &str, text: &str) -> Result<Kept, Error> {
        let fits = |kept: &Kept| text.len() >= 4 && kept.id.as_str().starts_with(text);
        let mut fitting: Vec<Kept> = self.list(session)?.into_iter().filter(fits).collect();
        let found = fitting.pop().filter(|_| fitting.is_empty());
        found.ok_or_else(|| Error::NoSuchSnapshot { snapshot: text.to_owned(), session: session.to_owned() })
    }

    /// The sessions that have snapshots here.
    pub fn sessions(&self) -> Result<Vec<String>, Error> {
        let prefix = base_ref("x")?;
        let prefix = prefix.trim_end_matches('x');
        let listing = ["for-each-ref", "--format=%(refname)", prefix];
        let listed = self.git().args(listing).answer_limit_bytes(super::LIST_LIMIT_BYTES).run()?.line()?;
        Ok(listed.lines().filter_map(|name| name.strip_prefix(prefix)).map(str::to_owned).collect())
    }

    /// The files of a tree.
    pub(super) fn files_of(&self, tree: &ObjectId) -> Result<Vec<PathBuf>, Error> {
        let listing = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree.as_str()];
        let git = self.git().args(listing).answer_limit_bytes(super::LIST_LIMIT_BYTES);
        Ok(paths(&git.run()?.succeeded()?))
    }
}
