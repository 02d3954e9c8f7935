//! Whether commands may be run where a session is at home.

use std::path::Path;

use longhaul_core::trust::folder_hash;
use longhaul_core::workspace::TrustState;
use longhaul_events::{Checkout, WorkspaceId};

use crate::error::Error;
use crate::system::System;
use crate::workspaces;

/// Why commands may not be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It can be put right, and then they may.
    Mendable(String),
    /// Not in this session, whatever anybody does.
    Final(String),
}

impl System {
    /// Why commands may not be run in the checkout of a session; `None` if they may.
    pub(super) fn refusal_to_run(
        &self,
        workspace: WorkspaceId,
        checkout: &Checkout,
    ) -> Result<Option<Refusal>, Error> {
        let reader = self.reader()?;
        let registered = reader.map(|reader| reader.workspace(workspace)).transpose()?.flatten();
        let Some(registered) = registered else {
            let because = "the workspace is not registered any more; `longhaul workspace add` adds it again";
            return Ok(Some(Refusal::Mendable(because.to_owned())));
        };
        let located = workspaces::locate(Path::new(&checkout.path))?;
        if located.id != workspace {
            let because = format!("`{}` is not a checkout of the session's workspace", checkout.path);
            return Ok(Some(Refusal::Mendable(because)));
        }
        let (files, _) = match &checkout.pinned {
            Some(commit) => workspaces::committed_files(&located.repository, commit)?,
            None => workspaces::folder_files(&located.repository)?,
        };
        let present = folder_hash(&files);
        // Taking the folder away, or putting one there, must not make a difference in the session's favour.
        if present != checkout.folder {
            return Ok(Some(Refusal::Final(
                "`.longhaul/` is not what it was when the session started; only with what was there then does it go on"
                    .to_owned(),
            )));
        }
        Ok(match registered.trust_state(present) {
            TrustState::Trusted | TrustState::Absent => None,
            TrustState::Changed => Some(Refusal::Mendable(
                "`.longhaul/` changed since a person trusted it; `longhaul workspace trust` looks again"
                    .to_owned(),
            )),
            TrustState::Untrusted => Some(Refusal::Mendable(
                "nobody has trusted this workspace's `.longhaul/` yet; `longhaul workspace trust` does"
                    .to_owned(),
            )),
        })
    }
}
