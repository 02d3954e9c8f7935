//! The forge on this machine, for people who try things out.

use std::path::Path;

pub use longhaul_forge::{
    Check, CheckOutcome, Comment, Failure, Fault, FaultAct, FaultMoment, FaultOn, Forge, Issue, LocalForge,
    LocalRules, MergeMethod, MergePull, NewIssue, NewPull, NewReview, Pull, PullState, Readiness, Review,
    ReviewVerdict, Rule, State,
};

use crate::error::{Error, Kind};
use crate::system::System;
use crate::workspaces;

/// Why a forge did not do what a person asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error("{0}; name one with `--forge PATH`, or make one with `longhaul forge init PATH`")]
    Absent(String),
}

impl ForgeError {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Failed(_) => Kind::Refused,
            Self::Absent(_) => Kind::Usage,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Forge(failure.into())
    }
}

impl System {
    /// Makes a forge at a path, or finds the one that is there.
    pub fn make_forge(&self, path: &Path, branch: &str) -> Result<LocalForge, Error> {
        let path = self.directory().join(path);
        Ok(LocalForge::make(&path, branch, LocalForge::OURS)?)
    }

    /// The forge at a path, or the one that the repository here has for its remote, asked by an account.
    pub fn find_forge(&self, path: Option<&Path>, account: &str) -> Result<LocalForge, Error> {
        let address = if let Some(path) = path {
            self.directory().join(path).to_string_lossy().into_owned()
        } else {
            let located = workspaces::locate(self.directory())?;
            let address = longhaul_git::remote_address(&located.repository)?;
            address.ok_or_else(|| ForgeError::Absent("the repository here has no remote".to_owned()))?
        };
        let absent = || ForgeError::Absent(format!("`{address}` is no forge on this machine"));
        Ok(LocalForge::find(&address, account).ok_or_else(absent)?)
    }
}
