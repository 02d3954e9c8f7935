//! Snapshots: every file of a checkout and every commit made in it, in a bare repository of our own.
//!
//! Neither index nor head of the checkout is touched or needed. Contents are kept byte for byte: no attribute,
//! filter or line ending changes them. What cannot be kept is named. A snapshot holds by itself all that is not
//! in the base, so that nobody's clean-up elsewhere takes anything away from it.

mod bring;
mod clean;
mod compare;
mod history;
mod listing;
mod merging;
mod watching;
mod writing;

use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use bring::Restored;
pub use compare::{Change, ChangeKind, Merged, Since, Target};
pub use history::Kept;
pub use listing::LeftOut;
pub use merging::{ChangeSet, FileChange, FileStatus, MergeResult, Proposal};
pub use watching::Watched;

use crate::base::{base_ref, checked_name};
use crate::borrow::{borrow_objects, copy_shallow, quoted, unique};
use crate::command::Git;
use crate::{Checkout, CheckoutKind, Error, ObjectId, Repository, Version, version};

const TIMEOUT: Duration = Duration::from_mins(30);
/// How long to wait for another process that works on the same session.
const PATIENCE: Duration = Duration::from_mins(1);
const LIST_LIMIT_BYTES: usize = 512 * 1024 * 1024;
/// The first version that takes attributes from a tree of our choice.
const NEEDED: Version = Version { major: 2, minor: 41, patch: 0 };

/// The repository that holds the snapshots of one workspace.
#[derive(Debug)]
pub struct Snapshots {
    repository: Repository,
    /// Of the repository whose objects are borrowed.
    main_dir: PathBuf,
    empty_tree: ObjectId,
}

/// What to keep, and why.
#[derive(Debug, Clone, Copy)]
pub struct TakeSnapshot<'a> {
    pub session: &'a str,
    pub checkout: &'a Checkout,
    pub base: &'a ObjectId,
    /// One line for whoever chooses one to go back to.
    pub because: &'a str,
    /// Files that nobody may keep, relative to the top.
    pub secret: &'a [PathBuf],
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub id: ObjectId,
    pub tree: ObjectId,
    /// Where the head of the checkout was, if that could be told.
    pub head: Option<ObjectId>,
    pub news: News,
    pub left_out: Vec<LeftOut>,
}

/// Whether anything was different from the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    New,
    AsBefore,
}

/// The git that is here, if snapshots can be taken with it.
pub fn can_be_taken() -> Result<Version, Error> {
    let found = version()?;
    if found < NEEDED {
        let path = crate::version::program();
        return Err(Error::GitOlderThan { needed: "snapshots", version: "2.41", found, path });
    }
    Ok(found)
}

impl Snapshots {
    /// Opens the repository in `folder`, which is made if it is not there.
    pub fn open(folder: &Path, main: &Repository) -> Result<Self, Error> {
        can_be_taken()?;
        if !folder.join("HEAD").is_file() {
            make(folder, main)?;
        }
        let folder = fs::canonicalize(folder).map_err(Error::file("look at", folder))?;
        borrow_objects(&folder, &main.common_dir)?;
        copy_shallow(&folder, &main.common_dir)?;
        let repository = Repository::bare(folder);
        let asking = ["hash-object", "-t", "tree", "/dev/null"];
        let empty_tree = Git::in_repository(&repository).isolated().args(asking).run()?.object_id()?;
        Ok(Self { repository, main_dir: main.common_dir.clone(), empty_tree })
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.repository.git_dir
    }

    pub(crate) fn repository_of_snapshots(&self) -> Repository {
        self.repository.clone()
    }

    pub(crate) fn empty_tree(&self) -> &str {
        self.empty_tree.as_str()
    }

    /// Keeps all files of a checkout that are not ignored, and the commits made in it.
    pub fn take(&self, wanted: &TakeSnapshot<'_>) -> Result<Snapshot, Error> {
        let _turn = self.turn(wanted.session)?;
        self.take_with(wanted, &[])
    }

    /// The newest snapshot of a session.
    pub fn latest(&self, session: &str) -> Result<Option<ObjectId>, Error> {
        let name = base_ref(session)?;
        let answer = self.git().args(["rev-parse", "--verify", "--quiet", &name]).run()?;
        match answer.status {
            1 => Ok(None),
            _ => answer.object_id().map(Some),
        }
    }

    /// Git in our own repository, with no configuration but ours and every write made sure of.
    pub(crate) fn git(&self) -> Git {
        let mut git = Git::in_repository(&self.repository).isolated().timeout(TIMEOUT);
        for setting in [
            "core.fsync=committed,reference",
            "core.fsyncMethod=batch",
            "core.protectHFS=false",
            "core.protectNTFS=false",
            "core.quotePath=false",
            "gc.auto=0",
        ] {
            git = git.setting(setting);
        }
        git
    }

    /// The same, looking at the files of a checkout through an index of our own and at nothing but their bytes.
    fn git_on(&self, top: &Path, index: &Path) -> Git {
        let mut git = self.git().directory(top);
        for setting in [
            "core.fileMode=true",
            "core.symlinks=true",
            "core.autocrlf=false",
            "core.trustctime=true",
            "core.attributesFile=/dev/null",
            "core.looseCompression=1",
        ] {
            git = git.setting(setting);
        }
        git.variable("GIT_WORK_TREE", top)
            .variable("GIT_INDEX_FILE", index)
            .variable("GIT_ATTR_SOURCE", self.empty_tree.as_str())
            .answer_limit_bytes(LIST_LIMIT_BYTES)
    }

    /// The same as [`Self::git`], seeing the objects of a checkout too.
    fn git_with(&self, checkout: &Checkout) -> Git {
        match checkout.kind {
            CheckoutKind::Borrowed => {
                let objects = quoted(checkout.git_dir.join("objects").as_os_str());
                self.git().variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
            }
            CheckoutKind::Linked => self.git(),
        }
    }

    /// What only one process at a time may have: the index of a session and its chain.
    fn turn(&self, session: &str) -> Result<Turn, Error> {
        let name = checked_name(session)?;
        let folder = self.own_folder()?;
        let file = alone(&folder.join(format!("{name}.lock")))?;
        let busy = folder.join(format!("{name}.busy"));
        let turn = Turn { _file: file, index: folder.join(format!("{name}.index")), busy };
        turn.clear_leftovers(&self.label(session))?;
        fs::write(&turn.busy, b"").map_err(Error::file("write", &turn.busy))?;
        Ok(turn)
    }

    /// The right to move checkouts aside; others wait.
    pub(crate) fn removals(&self) -> Result<File, Error> {
        alone(&self.own_folder()?.join("removals.lock"))
    }

    fn own_folder(&self) -> Result<PathBuf, Error> {
        let folder = self.repository.git_dir.join("longhaul");
        fs::create_dir_all(&folder).map_err(Error::file("make", &folder))?;
        Ok(folder)
    }

    /// What git carries that works for a session, so that it is found when whoever started it was killed.
    fn label(&self, session: &str) -> String {
        // The path tells stores apart that lie under several homes; it only has to be the same in every process.
        let mut hasher = DefaultHasher::new();
        self.repository.git_dir.hash(&mut hasher);
        format!("snapshot-{:016x}-{session}", hasher.finish())
    }
}

/// The right to work on a session's snapshots; others wait.
struct Turn {
    _file: File,
    index: PathBuf,
    /// There while somebody is at it, so that whoever was killed in the middle is noticed.
    busy: PathBuf,
}

impl Turn {
    /// Git outlives whoever started it, if that is killed. It must not go on writing beside us.
    fn clear_leftovers(&self, label: &str) -> Result<(), Error> {
        if fs::symlink_metadata(&self.busy).is_err() {
            return Ok(());
        }
        let chosen = |found: &longhaul_exec::Labelled| found.labels.iter().any(|known| known == label);
        longhaul_exec::end_labelled(Duration::ZERO, &chosen)
            .map_err(|source| Error::Run { command: "git".into(), source })?;
        let lock = self.index.with_extension("index.lock");
        match fs::remove_file(&lock) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::file("remove", &lock)(error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // If it stays, the next one looks for leftovers in vain.
        let _ = fs::remove_file(&self.busy);
    }
}

/// Waits until this process is the only one that has the file.
fn alone(path: &Path) -> Result<File, Error> {
    let file = File::create(path).map_err(Error::file("open", path))?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5)); // tidy: a lock between processes has no wait with an end
            }
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(Error::file("lock", path)(source)),
        }
    }
}

/// Built beside its place, like a checkout. What is in it is for its owner alone.
fn make(folder: &Path, main: &Repository) -> Result<(), Error> {
    let parent = folder.parent().unwrap_or(Path::new("/"));
    let failed = |source| Error::MakeFolder { path: folder.to_owned(), source };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
    let mut building = folder.as_os_str().to_owned();
    building.push(format!(".{}.making", unique()));
    let building = PathBuf::from(building);
    if building.exists() {
        crate::checkout::remove_folder(&building)?;
    }
    fs::DirBuilder::new().mode(0o700).create(&building).map_err(failed)?;
    let format = Git::in_repository(main).args(["rev-parse", "--show-object-format"]).run()?.line()?;
    let making = ["init", "--quiet", "--bare", "--template=", &format!("--object-format={format}"), "."];
    let git = Git::in_directory(&building).isolated().setting("init.defaultRefFormat=files");
    git.args(making).run()?.succeeded()?;
    match fs::rename(&building, folder) {
        Ok(()) => Ok(()),
        // Somebody else was faster, and theirs is as good.
        Err(_) if folder.join("HEAD").is_file() => crate::checkout::remove_folder(&building),
        Err(source) => Err(failed(source)),
    }
}
