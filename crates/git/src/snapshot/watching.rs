//! A checkout in which programs of others run one after the other: whenever one begins, its committed files are those of
//! the commit, whatever the one before wrote. What says so is an index of ours that lies where none of them reaches.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::listing::paths;
use super::writing::joined;
use super::{LIST_LIMIT_BYTES, Snapshots};
use crate::command::Git;
use crate::{Error, ObjectId};

/// A checkout that is watched. Nothing is kept of it.
#[derive(Debug)]
pub struct Watched {
    top: PathBuf,
    commit: ObjectId,
    index: PathBuf,
    /// Files beside those of the commit that may be there.
    made: BTreeSet<PathBuf>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        // A memory and nothing more; the next one of that name begins anew.
        let _ = fs::remove_file(&self.index);
    }
}

/// Finds files that were not there before.
type Look = fn(&Snapshots, &Watched) -> Result<BTreeSet<PathBuf>, Error>;

impl Snapshots {
    /// Begins to watch a fresh checkout of a commit. `name` tells it from others that are watched.
    pub fn watch(&self, name: &str, top: &Path, commit: &ObjectId) -> Result<Watched, Error> {
        let index = self.own_folder()?.join(format!("{name}.watched"));
        let _ = fs::remove_file(&index);
        let mut watched =
            Watched { top: top.to_owned(), commit: commit.clone(), index, made: BTreeSet::new() };
        self.git_at(&watched).args(["read-tree", commit.as_str()]).run()?.succeeded()?;
        self.refresh(&watched)?;
        watched.made = self.others_at(&watched)?;
        Ok(watched)
    }

    /// What was made beside the files of the commit belongs there from now on.
    pub fn accept_made(&self, watched: &mut Watched) -> Result<(), Error> {
        watched.made = self.others_at(watched)?;
        Ok(())
    }

    /// Has every file of the commit as the commit has it, and takes away what came beside them since and is not ignored.
    /// Says what was otherwise.
    pub fn put_back(&self, watched: &Watched) -> Result<Vec<PathBuf>, Error> {
        let mut otherwise = self.differing_files(watched)?;
        if !otherwise.is_empty() {
            let placing = ["checkout-index", "--force", "--quiet", "-z", "--stdin"];
            let names = joined(otherwise.iter().map(PathBuf::as_path));
            self.git_at(watched).args(placing).stdin(names).run()?.succeeded()?;
            self.refresh(watched)?;
            if let Some(path) = self.differing_files(watched)?.into_iter().next() {
                return Err(Error::WouldLose { path: watched.top.join(path) });
            }
        }
        // What says that others are ignored goes first: it may hide them.
        let looks: [Look; 2] = [Self::ignores_at, Self::others_at];
        for look in looks {
            for path in look(self, watched)?.into_iter().filter(|path| !watched.made.contains(path)) {
                take_away(&watched.top, &path)?;
                otherwise.push(path);
            }
        }
        Ok(otherwise)
    }

    fn git_at(&self, watched: &Watched) -> Git {
        // As a checkout has them: what the commit says of line ends counts, and of filters there are none.
        self.git_on(&watched.top, &watched.index).variable("GIT_ATTR_SOURCE", watched.commit.as_str())
    }

    fn refresh(&self, watched: &Watched) -> Result<(), Error> {
        let refreshing = ["update-index", "-q", "--really-refresh"];
        let answer = self.git_at(watched).args(refreshing).run()?;
        // 1 is a file that differs; that is looked at where it matters.
        if answer.status > 1 { Err(answer.failed()) } else { Ok(()) }
    }

    fn differing_files(&self, watched: &Watched) -> Result<Vec<PathBuf>, Error> {
        self.refresh(watched)?;
        let asking = ["diff-files", "-z", "--name-only", "--ignore-submodules=all"];
        let git = self.git_at(watched).args(asking).answer_limit_bytes(LIST_LIMIT_BYTES);
        Ok(paths(&git.run()?.succeeded()?))
    }

    /// What lies beside the files of the commit and is not ignored, and whatever says what is.
    fn others_at(&self, watched: &Watched) -> Result<BTreeSet<PathBuf>, Error> {
        let mut found = self.untracked_at(watched, &["--exclude-per-directory=.gitignore"])?;
        found.extend(self.ignores_at(watched)?);
        Ok(found)
    }

    fn ignores_at(&self, watched: &Watched) -> Result<BTreeSet<PathBuf>, Error> {
        let mut found = self.untracked_at(watched, &[])?;
        found.retain(|path| path.file_name().is_some_and(|name| name == ".gitignore"));
        Ok(found)
    }

    fn untracked_at(&self, watched: &Watched, how: &[&str]) -> Result<BTreeSet<PathBuf>, Error> {
        let git = self.git_at(watched).args(["ls-files", "-z", "--others"]).args(how.iter().copied());
        let listed = git.answer_limit_bytes(LIST_LIMIT_BYTES).run()?.succeeded()?;
        Ok(paths(&listed).into_iter().filter(|path| !path.starts_with(".git")).collect())
    }
}

/// No link is followed on the way: what lies behind one is not of this checkout.
fn take_away(top: &Path, path: &Path) -> Result<(), Error> {
    let whole = top.join(path);
    let failed = |source| Error::file("remove", &whole)(source);
    let folder = whole.parent().unwrap_or(top).canonicalize().map_err(failed)?;
    if !folder.starts_with(top.canonicalize().map_err(failed)?) {
        return Err(Error::WouldLose { path: whole });
    }
    match fs::symlink_metadata(&whole) {
        Ok(found) if found.is_dir() => crate::checkout::remove_folder(&whole),
        Ok(_) => fs::remove_file(&whole).map_err(failed),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
    }
}
