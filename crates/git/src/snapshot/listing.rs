//! Which files there are to keep. What cannot be kept is named, never passed over.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clean::GITLINK;
use super::{LIST_LIMIT_BYTES, Snapshots, TakeSnapshot};
use crate::checkout::plain::trap_below;
use crate::command::Git;
use crate::{Error, ObjectId};

/// A look at the files takes longer than this only if they are very many, or if one of them is a trap.
const QUICK: Duration = Duration::from_secs(5);

/// What a snapshot does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A file or folder that we may not read.
    Unreadable { path: PathBuf },
    /// A socket, a pipe or a device in place of a file; others have no content to keep.
    NotAFile { path: PathBuf },
    /// A repository inside the checkout: its files are kept, its `.git` is not.
    NestedHistory { path: PathBuf },
    /// Commits of the checkout that cannot be read.
    Commits { because: String },
    /// Another commit of a repository inside than the base has: no file says so, and only its owner could deliver it.
    Submodule { path: PathBuf },
    /// Files that are tracked though they are ignored may be missing, because the index cannot be read.
    Index { because: String },
}

/// What was found, relative to the top.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: BTreeSet<PathBuf>,
    pub(super) left_out: BTreeSet<LeftOut>,
}

impl Snapshots {
    /// All files that are not ignored, those that are tracked though ignored, and `more`.
    pub(super) fn listing(&self, wanted: &TakeSnapshot<'_>, more: &[PathBuf]) -> Result<Listing, Error> {
        let top = &wanted.checkout.path;
        let mut found = Listing::default();
        let mut candidates = BTreeSet::new();
        self.untracked(top, Path::new(""), &mut candidates, &mut found)?;
        match tracked(wanted) {
            Ok(Tracked { files, links }) => {
                candidates.extend(files);
                let moved = self.links_of(wanted.base)?;
                let moved = links.into_iter().filter(|(path, id)| moved.get(path) != Some(id));
                found.left_out.extend(moved.map(|(path, _)| LeftOut::Submodule { path }));
            }
            Err(error) => drop(found.left_out.insert(LeftOut::Index { because: error.to_string() })),
        }
        candidates.extend(more.iter().cloned());
        let mut folders = Folders { top, known: BTreeMap::new() };
        for path in candidates {
            if !wanted.secret.contains(&path) && folders.hold(&path) {
                found.sort_in(top, path);
            }
        }
        found.name_histories(top);
        Ok(found)
    }

    /// The repositories inside that a commit names, and their commits.
    fn links_of(&self, commit: &ObjectId) -> Result<BTreeMap<PathBuf, String>, Error> {
        let listing = self.git().args(["ls-tree", "-r", "-z", commit.as_str()]);
        let stdout = listing.answer_limit_bytes(LIST_LIMIT_BYTES).run()?.succeeded()?;
        Ok(links_in(&stdout))
    }

    /// Seen through an empty index everything is untracked. Git does not look into a repository inside, so that is
    /// looked at as a tree of its own.
    fn untracked(
        &self,
        top: &Path,
        below: &Path,
        files: &mut BTreeSet<PathBuf>,
        found: &mut Listing,
    ) -> Result<(), Error> {
        let folder = top.join(below);
        let no_index = self.repository.git_dir.join("longhaul/none.index");
        let asking = ["ls-files", "-z", "--others", "--exclude-standard"];
        let ask = || self.git_on(&folder, &no_index).args(asking);
        let answer = match ask().timeout(QUICK).run() {
            Err(Error::TimedOut { .. }) => match trap_below(&folder) {
                Some(path) => return Err(Error::Trap { path }),
                None => ask().run()?,
            },
            quick => quick?,
        };
        if answer.status != 0 {
            return Err(answer.failed());
        }
        let unread = answer.stderr.lines().filter_map(|line| {
            line.strip_prefix("warning: could not open directory '")?.split_once('\'').map(|(path, _)| path)
        });
        found.left_out.extend(unread.map(|path| LeftOut::Unreadable { path: below.join(path) }));
        for name in answer.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            match name.strip_suffix(b"/") {
                Some(nested) => {
                    let nested = below.join(OsStr::from_bytes(nested));
                    found.left_out.insert(LeftOut::NestedHistory { path: nested.clone() });
                    self.untracked(top, &nested, files, found)?;
                }
                None => drop(files.insert(below.join(OsStr::from_bytes(name)))),
            }
        }
        Ok(())
    }
}

/// Which folders are folders and not links to somewhere else.
struct Folders<'a> {
    top: &'a Path,
    known: BTreeMap<PathBuf, bool>,
}

impl Folders<'_> {
    fn hold(&mut self, path: &Path) -> bool {
        let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return true };
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let is_real = self.hold(folder)
            && fs::symlink_metadata(self.top.join(folder)).is_ok_and(|found| found.is_dir());
        self.known.insert(folder.to_owned(), is_real);
        is_real
    }
}

impl Listing {
    fn sort_in(&mut self, top: &Path, path: PathBuf) {
        let whole = top.join(&path);
        // What is gone by now needs no keeping, and what became a folder was listed file by file.
        let Ok(found) = fs::symlink_metadata(&whole) else { return };
        if found.is_symlink() || (found.is_file() && File::open(&whole).is_ok()) {
            self.files.insert(path);
        } else if found.is_file() {
            self.left_out.insert(LeftOut::Unreadable { path });
        } else if !found.is_dir() {
            self.left_out.insert(LeftOut::NotAFile { path });
        }
    }

    /// Git passes over everything that is called `.git`, whether it is one or not.
    fn name_histories(&mut self, top: &Path) {
        let folders: BTreeSet<&Path> = self.files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
        let nested = folders.into_iter().filter(|folder| !folder.as_os_str().is_empty());
        let nested = nested.filter(|folder| fs::symlink_metadata(top.join(folder).join(".git")).is_ok());
        let named: Vec<LeftOut> =
            nested.map(|folder| LeftOut::NestedHistory { path: folder.to_owned() }).collect();
        self.left_out.extend(named);
    }
}

/// What the index of a checkout names.
struct Tracked {
    files: Vec<PathBuf>,
    links: BTreeMap<PathBuf, String>,
}

fn tracked(wanted: &TakeSnapshot<'_>) -> Result<Tracked, Error> {
    let repository = wanted.checkout.repository();
    let git = Git::in_repository(&repository).isolated().answer_limit_bytes(LIST_LIMIT_BYTES);
    let stdout = git.args(["ls-files", "-z", "--cached", "--stage"]).run()?.succeeded()?;
    let files =
        stdout.split(|byte| *byte == 0).filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
    let files = files.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    Ok(Tracked { files, links: links_in(&stdout) })
}

/// The repositories in a list with modes: `160000 ID 0<TAB>path` of an index, `160000 commit ID<TAB>path` of a tree.
fn links_in(stdout: &[u8]) -> BTreeMap<PathBuf, String> {
    let lines = stdout.split(|byte| *byte == 0).filter(|line| line.starts_with(GITLINK.as_bytes()));
    let entries = lines.filter_map(|line| {
        let mut parts = line.splitn(2, |byte| *byte == b'\t');
        let about = String::from_utf8_lossy(parts.next()?).into_owned();
        let id = about.split(' ').find(|word| word.len() >= 40)?.to_owned();
        Some((PathBuf::from(OsStr::from_bytes(parts.next()?)), id))
    });
    entries.collect()
}

/// Paths that end in NUL each.
pub(super) fn paths(stdout: &[u8]) -> Vec<PathBuf> {
    let names = stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}
