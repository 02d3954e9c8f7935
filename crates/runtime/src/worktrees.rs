//! Worktrees of sessions: made, kept, shown, restored and cleaned up, with the log as the truth about them.
//!
//! The files in `<git-common-dir>/longhaul/worktrees/` are a cache that anybody can read without the log. Reading
//! must never write, and where the two disagree the log is right.

mod cleaning;
mod file;
mod foreign;
mod info;
mod keeping;
mod lending;
mod list;
mod making;
mod ready;
mod setup;
mod since;
mod task;

use std::path::{Path, PathBuf};

use longhaul_core::session::{Session, Workplace};
use longhaul_events::{CheckoutKind, OwnCheckout, SessionId, WorkspaceId};
use longhaul_git::{Checkout, ObjectId, Repository, Snapshots};

pub use cleaning::{Clean, CleanMode, CleanRow, CleanState, Unmerged};
pub use file::WorktreeFile;
pub(crate) use file::write_whole;
pub use info::{Disagreement, Source, WorktreeInfo};
pub use keeping::{ChangedFile, KeptRow, RestoredWorktree};
pub(crate) use lending::{Lending, Lent};
pub use list::{Orphan, WorktreeRow};
pub(crate) use making::StartCommit;
pub use making::{MadeWorktree, NewWorktree};
pub use ready::SecretFiles;
pub(crate) use setup::{SetUp, SetupSite};
pub use setup::{SetupOutcome, SetupReport};
pub(crate) use since::NOTHING_KEPT;
pub(crate) use task::TaskFiles;

use crate::error::{Error, Kind};
use crate::places::Places;
use crate::system::System;
use crate::workspaces;

/// What is wrong about a worktree or its file.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error("`{0}` cannot be the name of a worktree; names have no `/`, no `..` and no spaces")]
    Name(String),
    #[error("there is no worktree `{0}` here; `longhaul worktree list` shows them")]
    Unknown(String),
    #[error("`{}` is malformed: {problem}; repair it, or remove it and run `longhaul worktree list`", path.display())]
    Malformed { path: PathBuf, problem: String },
    #[error("several worktrees fit `{text}`: {fitting}; type more of it")]
    Ambiguous { text: String, fitting: String },
    #[error(
        "no worktree here has a snapshot `{0}`; `longhaul worktree restore --worktree NAME` lists those of one"
    )]
    NoSuchSnapshot(String),
    #[error("session `{0}` belongs to no repository; start it in one")]
    NoRepository(SessionId),
    #[error("`{}` is not copied: {problem}", path.display())]
    Copy { path: PathBuf, problem: &'static str },
}

impl WorktreeError {
    pub(crate) const fn code(&self) -> &'static str {
        match self {
            Self::Name(_) | Self::Unknown(_) | Self::NoRepository(_) => "E0701",
            Self::Malformed { .. } => "E0702",
            Self::Ambiguous { .. } => "E0704",
            Self::NoSuchSnapshot(_) => "E0705",
            Self::Copy { .. } => "E0706",
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Name(_) | Self::Unknown(_) | Self::NoSuchSnapshot(_) | Self::Ambiguous { .. } => {
                Kind::Usage
            }
            Self::NoRepository(_) | Self::Copy { .. } => Kind::Refused,
            Self::Malformed { .. } => Kind::Environment,
        }
    }
}

/// A session with a checkout of its own, and all that is needed to work on that.
pub(crate) struct Place {
    pub(crate) session: Session,
    pub(crate) workspace: WorkspaceId,
    pub(crate) main: Repository,
    pub(crate) own: OwnCheckout,
    pub(crate) base: ObjectId,
    pub(crate) secrets: Vec<PathBuf>,
}

impl Place {
    /// Finds the repository of a session that has, or had, a checkout.
    pub(crate) fn of(session: Session) -> Result<Self, Error> {
        let Some(Workplace { checkout: own, .. }) = session.workplace.clone() else {
            return Err(longhaul_core::session::Rejection::NoCheckout.into());
        };
        let located = workspaces::locate(Path::new(&own.main_dir))?;
        let Some(base) = ObjectId::parse(&own.base_commit) else {
            return Err(WorktreeError::Unknown(own.name).into());
        };
        let secrets = own.secrets.iter().map(PathBuf::from).collect();
        Ok(Self { session, workspace: located.id, main: located.repository, own, base, secrets })
    }

    pub(crate) fn checkout(&self) -> Result<Checkout, Error> {
        let kind = git_kind(self.own.kind);
        Ok(Checkout::open(Path::new(&self.own.path), kind, &self.main.common_dir)?)
    }

    /// The same for whoever keeps its files: those are there, whatever became of its `.git`.
    pub(crate) fn files(&self) -> Checkout {
        self.checkout().unwrap_or_else(|error| {
            tracing::warn!(%error, session = %self.session.id, "only the files of a worktree can be kept");
            let kind = git_kind(self.own.kind);
            Checkout::without_history(Path::new(&self.own.path), kind, &self.main.common_dir)
        })
    }

    pub(crate) fn snapshots(&self, places: &Places) -> Result<Snapshots, Error> {
        Ok(Snapshots::open(&places.snapshots(self.workspace), &self.main)?)
    }
}

pub(crate) const fn git_kind(kind: CheckoutKind) -> longhaul_git::CheckoutKind {
    match kind {
        CheckoutKind::Borrowed => longhaul_git::CheckoutKind::Borrowed,
        CheckoutKind::Linked => longhaul_git::CheckoutKind::Linked,
    }
}

impl System {
    /// The session of a worktree that a person means, in the words that `worktree_info` takes.
    pub fn worktree_session(&self, text: Option<&str>) -> Result<SessionId, Error> {
        let info = self.worktree_info(text)?;
        let session = info.file.session.as_deref().and_then(|id| id.parse().ok());
        session.ok_or_else(|| WorktreeError::Unknown(info.file.name).into())
    }

    /// The worktree that is meant by the beginning of its name, by its session, or by the beginning of that.
    fn worktree_called(&self, text: &str) -> Result<WorktreeInfo, Error> {
        let rows = match self.worktree_list() {
            Ok(rows) => rows,
            // A session is known everywhere, a name only in its repository.
            Err(Error::Git(longhaul_git::Error::NotARepository { .. })) if is_session(text) => Vec::new(),
            Err(error) => return Err(error),
        };
        let fitting: Vec<&str> =
            rows.iter().map(|row| row.name.as_str()).filter(|name| name.starts_with(text)).collect();
        match fitting.as_slice() {
            [] => {}
            [name] => return self.worktree_named(name),
            several => {
                let fitting = several.join(", ");
                return Err(WorktreeError::Ambiguous { text: text.to_owned(), fitting }.into());
            }
        }
        let unknown = || Error::from(WorktreeError::Unknown(text.to_owned()));
        let reader = self.reader()?.ok_or_else(unknown)?;
        let id = match reader.find_session(text) {
            Ok(row) => row.id,
            Err(Error::NoSuchSession(_)) if !is_session(text) => return Err(unknown()),
            Err(error) => return Err(error),
        };
        let session = reader.session(id)?.ok_or(Error::UnknownSession(id))?;
        let place = Place::of(session)?;
        let file = file::read(&place.main.common_dir, &place.own.name).ok().flatten();
        let file = file.unwrap_or_else(|| WorktreeFile { name: place.own.name, ..WorktreeFile::default() });
        Ok(info::told(file, Some(&place.session)))
    }
}

fn is_session(text: &str) -> bool {
    text.starts_with("s-")
}
