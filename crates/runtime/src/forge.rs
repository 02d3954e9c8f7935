//! The forge on this machine, for people who try things out.

use std::path::Path;

pub use longhaul_forge::{
    Check, CheckOutcome, Comment, Failure, Fault, FaultAct, FaultMoment, FaultOn, Forge, Issue, LocalForge,
    LocalRules, MergeMethod, MergePull, NewIssue, NewPull, NewReview, Pull, PullState, Readiness, Review,
    ReviewVerdict, Rule, State,
};

use crate::error::Error;
use crate::system::System;
use crate::workspaces;

impl System {
    /// Makes a forge at a path, or finds the one that is there.
    pub fn make_forge(&self, path: &Path, branch: &str) -> Result<LocalForge, Error> {
        let path = self.directory().join(path);
        LocalForge::make(&path, branch, LocalForge::OURS).map_err(Error::Forge)
    }

    /// The forge at a path, or the one that the repository here has for its remote, asked by an account.
    pub fn find_forge(&self, path: Option<&Path>, account: &str) -> Result<LocalForge, Error> {
        let address = if let Some(path) = path {
            self.directory().join(path).to_string_lossy().into_owned()
        } else {
            let located = workspaces::locate(self.directory())?;
            let address = longhaul_git::remote_address(&located.repository)?;
            address.ok_or_else(|| Error::NoForge("the repository here has no remote".to_owned()))?
        };
        LocalForge::find(&address, account)
            .ok_or_else(|| Error::NoForge(format!("`{address}` is no forge on this machine")))
    }
}
