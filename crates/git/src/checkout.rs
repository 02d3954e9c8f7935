//! Checkouts for sessions: a clone that borrows objects, or a linked worktree.
//!
//! What an agent may write to is somebody else's from then on, its `.git` with hooks, configuration and
//! attributes among it. Nothing that is said there may make us run a program or write elsewhere.

mod linked;
mod lock;
pub(crate) mod plain;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use linked::forget as forget_linked;
pub use lock::Lock;

use crate::base::checked_name;
use crate::borrow::{borrow_objects, copy_shallow};
use crate::command::Git;
use crate::{Error, Kind, ObjectId, Repository, discover, resolve};

const TIMEOUT: Duration = Duration::from_mins(10);

/// How a checkout hangs together with the repository that it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutKind {
    /// A repository of its own that reads the objects of the other and never writes to it.
    Borrowed,
    /// Made as by `git worktree add`; shares refs and configuration.
    Linked,
}

/// A checkout to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewCheckout<'a> {
    pub main: &'a Repository,
    /// Where it shall be; nothing may be there.
    pub path: &'a Path,
    /// Without `refs/heads/`.
    pub branch: &'a str,
    pub base: &'a ObjectId,
    pub kind: CheckoutKind,
}

/// A checkout that was made here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub kind: CheckoutKind,
    pub path: PathBuf,
    pub git_dir: PathBuf,
    /// Of the repository that it was made from.
    pub main_dir: PathBuf,
}

impl Checkout {
    /// Makes a checkout with the files of the base on a branch of its own.
    pub fn make(new: &NewCheckout<'_>) -> Result<Self, Error> {
        check_branch(new.branch)?;
        let folder = new.path.parent().ok_or_else(|| Error::CheckoutExists { path: new.path.into() })?;
        fs::create_dir_all(folder).map_err(|source| Error::MakeFolder { path: folder.to_owned(), source })?;
        match new.kind {
            CheckoutKind::Borrowed => borrowed(new),
            CheckoutKind::Linked => linked::make(new),
        }
    }

    /// The checkout that was made at a path, if it still is what was made.
    pub fn open(path: &Path, kind: CheckoutKind, main_dir: &Path) -> Result<Self, Error> {
        let entry = path.join(".git");
        let Ok(found) = fs::symlink_metadata(&entry) else {
            return Err(not_ours(path, "it has no `.git`"));
        };
        let checkout = match kind {
            CheckoutKind::Borrowed if found.is_dir() => {
                // An agent could have put links there, and we would read and write where they lead.
                if plain::not_plain(&entry).map_err(Error::file("look into", &entry))?.is_some() {
                    return Err(not_ours(path, "something in its `.git` is a link, a pipe or a device"));
                }
                borrow_objects(&entry, main_dir)?;
                Self { kind, path: path.to_owned(), git_dir: entry, main_dir: main_dir.to_owned() }
            }
            CheckoutKind::Borrowed => return Err(not_ours(path, "its `.git` is not a folder any more")),
            CheckoutKind::Linked => {
                let found = discover(path)?;
                if found.kind != Kind::LinkedWorktree || found.common_dir != main_dir {
                    return Err(not_ours(path, "its `.git` leads elsewhere"));
                }
                Self { kind, path: path.to_owned(), git_dir: found.git_dir, main_dir: main_dir.to_owned() }
            }
        };
        Ok(checkout)
    }

    /// The files at a path whose `.git` is gone, or is nobody's to read any more. They can be kept; its commits cannot.
    pub fn without_history(path: &Path, kind: CheckoutKind, main_dir: &Path) -> Self {
        // Nothing is there, so nothing that somebody put in its place is read.
        let git_dir = main_dir.join("longhaul-has-no-such-folder");
        Self { kind, path: path.to_owned(), git_dir, main_dir: main_dir.to_owned() }
    }

    /// The checkout as a repository that can be asked things.
    pub fn repository(&self) -> Repository {
        let (common_dir, kind) = match self.kind {
            CheckoutKind::Borrowed => (self.git_dir.clone(), Kind::MainCheckout),
            CheckoutKind::Linked => (self.main_dir.clone(), Kind::LinkedWorktree),
        };
        Repository {
            common_dir,
            git_dir: self.git_dir.clone(),
            kind,
            checkout: Some(self.path.clone()),
            main_checkout: None,
        }
    }

    /// Where its head is; `None` if that cannot be told, as after somebody has damaged it.
    pub fn head(&self) -> Option<ObjectId> {
        resolve(&self.repository(), "HEAD").ok()
    }

    /// Git on this checkout, with no configuration but its own, and no filter of that either.
    pub(crate) fn git(&self) -> Result<Git, Error> {
        let repository = self.repository();
        let mut git = Git::in_repository(&repository).isolated().directory(&self.path).timeout(TIMEOUT);
        for filter in filters(&repository)? {
            for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
                git = git.setting(format!("filter.{filter}.{key}={value}"));
            }
        }
        Ok(git.setting("submodule.recurse=false").variable("GIT_WORK_TREE", &self.path))
    }

    /// Sets index and files to a commit. Only for a checkout that nobody has worked in.
    fn fill(&self, commit: &ObjectId) -> Result<(), Error> {
        let filling = ["read-tree", "-m", "-u", "--no-recurse-submodules", commit.as_str()];
        self.git()?.args(filling).run()?.succeeded().map(drop)
    }
}

/// The filters that configuration knows. Their commands are not run, so what they would change stays as it is
/// in the commit.
fn filters(repository: &Repository) -> Result<Vec<String>, Error> {
    let asking = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
    let answer = Git::in_repository(repository).isolated().args(asking).run()?;
    if answer.status != 0 {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    let named = text.split('\0').filter_map(|key| key.strip_prefix("filter.")?.rsplit_once('.'));
    let mut names: Vec<String> = named.map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn borrowed(new: &NewCheckout<'_>) -> Result<Checkout, Error> {
    borrowed_with(new, &|_| Ok(()))
}

/// Built beside its place and moved there when it is complete: a crash leaves no half of one. `bring` puts objects there
/// that the main repository does not have.
pub(crate) fn borrowed_with(
    new: &NewCheckout<'_>,
    bring: &dyn Fn(&Path) -> Result<(), Error>,
) -> Result<Checkout, Error> {
    if fs::symlink_metadata(new.path).is_ok() {
        return Err(Error::CheckoutExists { path: new.path.to_owned() });
    }
    let mut building = new.path.as_os_str().to_owned();
    building.push(".making");
    let building = PathBuf::from(building);
    clear(&building)?;
    fs::create_dir(&building).map_err(|source| Error::MakeFolder { path: building.clone(), source })?;
    let format = object_format(new.main)?;
    let making = [
        "init",
        "--quiet",
        "--template=",
        &format!("--object-format={format}"),
        &format!("--initial-branch={}", new.branch),
        ".",
    ];
    let git = Git::in_directory(&building).isolated().setting("init.defaultRefFormat=files");
    git.args(making).run()?.succeeded()?;
    let git_dir = building.join(".git");
    copy_shallow(&git_dir, &new.main.common_dir)?;
    bring(&git_dir)?;
    let checkout = Checkout::open(&building, CheckoutKind::Borrowed, &new.main.common_dir)?;
    let branch = format!("refs/heads/{}", new.branch);
    checkout.git()?.args(["update-ref", &branch, new.base.as_str()]).run()?.succeeded()?;
    checkout.fill(new.base)?;
    fs::rename(&building, new.path).map_err(Error::file("move", &building))?;
    Checkout::open(new.path, CheckoutKind::Borrowed, &new.main.common_dir)
}

fn object_format(main: &Repository) -> Result<String, Error> {
    Git::in_repository(main).args(["rev-parse", "--show-object-format"]).run()?.line()
}

/// Removes what an earlier attempt left behind.
fn clear(path: &Path) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(_) => remove_folder(path),
        Err(_) => Ok(()),
    }
}

/// Removes a folder with all that is in it, also where somebody took away the right to do so.
pub(crate) fn remove_folder(path: &Path) -> Result<(), Error> {
    if fs::remove_dir_all(path).is_ok() {
        return Ok(());
    }
    permit(path);
    fs::remove_dir_all(path).map_err(Error::file("remove", path))
}

/// Takes away a checkout that nobody needs, if it is there, with what a crash left of its making.
pub fn discard(path: &Path) -> Result<(), Error> {
    let mut building = path.as_os_str().to_owned();
    building.push(".making");
    clear(Path::new(&building))?;
    clear(path)
}

fn permit(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    // What cannot be permitted cannot be removed either, and that is said then.
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            permit(&entry.path());
        }
    }
}

/// Parts between slashes that are names of ours.
fn check_branch(branch: &str) -> Result<(), Error> {
    branch.split('/').try_for_each(|part| checked_name(part).map(drop))
}

pub(crate) fn not_ours(path: &Path, problem: &'static str) -> Error {
    Error::NotOurCheckout { path: path.to_owned(), problem }
}
