//! The settings of the repository that we stand in: whether they count, and whether they can be read at all.

use longhaul_core::config::Config;
use longhaul_core::workspace::TrustState;

use super::{Diagnosis, healthy, warning};
use crate::config;
use crate::error::Error;
use crate::system::System;
use crate::workflows::trust_of;
use crate::workspaces;

const SUBJECT: &str = "repository";

/// `None` outside of a repository, and where it has no settings.
pub(super) fn repository(system: &System) -> Option<Diagnosis> {
    let located = workspaces::locate(system.directory()).ok()?;
    let (files, source) = match workspaces::folder_files(&located.repository) {
        Ok(found) => found,
        Err(error) => return Some(unfit(&error)),
    };
    if files.is_empty() {
        return None;
    }
    let top = located.repository.checkout.as_ref().or(located.repository.main_checkout.as_ref());
    // Read as if somebody trusted it, so that what is broken is known before they do.
    if let Some(Err(error)) = top.map(|top| config::workspace_layer(top, &files, TrustState::Trusted)) {
        return Some(unfit(&error));
    }
    // What is wrong with the database is said of the database.
    let trust = trust_of(system, &located, &files).ok()?;
    Some(match trust {
        TrustState::Trusted => healthy(SUBJECT, format!("`{source}` counts")),
        // It is named among the workspaces.
        TrustState::Changed | TrustState::Absent => return None,
        TrustState::Untrusted => warning(
            SUBJECT,
            format!("nobody trusts `{source}`: its settings, checks and workflows do not count"),
            "look at it, then run `longhaul workspace trust` here (and `longhaul workspace add` before, if it is not registered)",
        ),
    })
}

/// Whether what a pipeline delivers can be committed; `None` where it can, and outside of a repository.
pub(super) fn identity(system: &System, config: &Config) -> Option<Diagnosis> {
    let is_missing = matches!(system.committer(&config.delivery), Ok(None));
    is_missing.then(|| {
        warning(
            "identity",
            "git does not know in whose name to commit, so no pipeline that delivers is started",
            "run `git config --global user.name NAME` and `git config --global user.email ADDRESS`, or set `identity.name` and `identity.email`",
        )
    })
}

fn unfit(error: &Error) -> Diagnosis {
    let text = error.to_string();
    let (finding, remedy) = match error {
        Error::Untrustable { .. } => text.split_once("; ").unwrap_or((&text, "put that right")),
        _ => (text.as_str(), "put that right; until then the settings of this repository do not count"),
    };
    warning(SUBJECT, finding, remedy)
}
