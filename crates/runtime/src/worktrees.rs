//! Worktrees of sessions: made, kept, shown, restored and cleaned up, with the log as the truth about them.
//!
//! The files in `<git-common-dir>/longhaul/worktrees/` are a cache that anybody can read without the log. Reading
//! must never write, and where the two disagree the log is right.

mod cleaning;
mod file;
mod foreign;
mod info;
mod keeping;
mod list;
mod making;
mod ready;
mod setup;
mod since;

use std::path::{Path, PathBuf};

use longhaul_core::session::{Session, Workplace};
use longhaul_events::{CheckoutKind, OwnCheckout, SessionId, WorkspaceId};
use longhaul_git::{Checkout, ObjectId, Repository, Snapshots};

pub use cleaning::{CleanMode, CleanRow, CleanState};
pub use file::WorktreeFile;
pub use info::{Disagreement, Source, WorktreeInfo};
pub use keeping::{ChangedFile, KeptRow, RestoredWorktree};
pub use list::{Orphan, WorktreeRow};
pub use making::{MadeWorktree, NewWorktree};
pub use ready::SecretFiles;
pub(crate) use setup::SetUp;
pub use setup::{SetupOutcome, SetupReport};
pub(crate) use since::NOTHING_KEPT;

use crate::error::Error;
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
            Self::Copy { .. } => "E0706",
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
    /// The session of a worktree that a person means: by the worktree's name, the session's id or the beginning of
    /// either, or without a word the worktree that the current folder is in.
    pub fn worktree_session(&self, text: Option<&str>) -> Result<SessionId, Error> {
        let info = match text {
            None => self.worktree_info(None)?,
            Some(text) => match self.worktree_info(Some(text)) {
                Ok(info) => info,
                Err(Error::Worktree(WorktreeError::Unknown(_))) => return self.session_called(text),
                Err(error) => return Err(error),
            },
        };
        let session = info.file.session.as_deref().and_then(|id| id.parse().ok());
        session.ok_or_else(|| WorktreeError::Unknown(info.file.name).into())
    }

    fn session_called(&self, text: &str) -> Result<SessionId, Error> {
        let rows = self.worktree_list()?;
        let mut fitting: Vec<&WorktreeRow> = rows.iter().filter(|row| row.name.starts_with(text)).collect();
        if fitting.len() > 1 {
            let fitting: Vec<&str> = fitting.iter().map(|row| row.name.as_str()).collect();
            return Err(
                WorktreeError::Ambiguous { text: text.to_owned(), fitting: fitting.join(", ") }.into()
            );
        }
        if let Some(id) = fitting.pop().and_then(|row| row.session.as_ref()?.parse().ok()) {
            return Ok(id);
        }
        let unknown = || Error::from(WorktreeError::Unknown(text.to_owned()));
        let reader = self.reader()?.ok_or_else(unknown)?;
        Ok(reader.find_session(text)?.id)
    }
}
