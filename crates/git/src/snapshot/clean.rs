//! The files of a checkout as git would commit them.
//!
//! A snapshot keeps bytes. In a commit, line endings, encodings and identifiers are as the attributes of the base ask for, and
//! a repository inside is what it was: a file that nobody touched is no change.

use std::fs;
use std::path::PathBuf;

use super::listing::paths;
use super::writing::joined;
use super::{LIST_LIMIT_BYTES, Snapshots, TakeSnapshot};
use crate::{Error, ObjectId};

/// What the base has in place of a repository inside.
pub(super) const GITLINK: &str = "160000";

/// Files in which the bytes of a checkout differ from those of its base.
#[derive(Default)]
struct Differing {
    written: Vec<PathBuf>,
    gone: Vec<PathBuf>,
}

impl Snapshots {
    pub(super) fn clean_tree(&self, wanted: &TakeSnapshot<'_>) -> Result<ObjectId, Error> {
        let _turn = self.turn(wanted.session)?;
        let (bytes, _) = self.tree_of(wanted, &[])?;
        let Differing { written, gone } = self.differing(wanted, &bytes)?;
        let index = self.index(&format!("{}-clean", wanted.session));
        let git = || {
            let git = self.git_on(&wanted.checkout.path, &index).label(self.label(wanted.session));
            git.variable("GIT_ATTR_SOURCE", wanted.base.as_str())
        };
        git().args(["read-tree", "--reset", wanted.base.as_str()]).run()?.succeeded()?;
        if !gone.is_empty() {
            let removing = ["update-index", "--force-remove", "-z", "--stdin"];
            git().args(removing).stdin(joined(gone.iter().map(PathBuf::as_path))).run()?.succeeded()?;
        }
        if !written.is_empty() {
            let adding = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
            git().args(adding).stdin(joined(written.iter().map(PathBuf::as_path))).run()?.succeeded()?;
        }
        let tree = git().args(["write-tree"]).run()?.object_id();
        let _ = fs::remove_file(&index);
        tree
    }

    fn differing(&self, wanted: &TakeSnapshot<'_>, bytes: &ObjectId) -> Result<Differing, Error> {
        let asking = ["diff-tree", "-r", "-z", "--no-renames", wanted.base.as_str(), bytes.as_str()];
        let stdout = self.git().args(asking).answer_limit_bytes(LIST_LIMIT_BYTES).run()?.succeeded()?;
        let words = paths(&stdout);
        let mut differing = Differing::default();
        for pair in words.chunks_exact(2) {
            // `:MODE MODE ID ID STATUS`, the base first.
            let (about, path) = (pair[0].to_string_lossy(), pair[1].clone());
            let is_repository = about.trim_start_matches(':').starts_with(GITLINK);
            let is_there =
                || fs::symlink_metadata(wanted.checkout.path.join(&path)).is_ok_and(|found| found.is_dir());
            match about.ends_with(" D") {
                true if is_repository && is_there() => {}
                true => differing.gone.push(path),
                false => differing.written.push(path),
            }
        }
        Ok(differing)
    }
}
