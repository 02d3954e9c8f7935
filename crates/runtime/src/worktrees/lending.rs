//! Checkouts for one verification: made fresh, used once, taken away. What a kill leaves of one is found by the session
//! that it was for.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_events::SessionId;
use longhaul_git::{CheckoutKind, NewCheckout, ObjectId, discard};

use super::ready;
use super::task::TaskFiles;
use crate::error::Error;
use crate::places::Places;
use crate::system::System;

const BRANCH: &str = "longhaul/verification";

/// A commit to look at, and one that the main repository has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lending<'a> {
    /// Of the folder, beside others of the same session.
    pub(crate) name: &'a str,
    pub(crate) commit: &'a ObjectId,
    pub(crate) onto: &'a ObjectId,
}

/// A checkout that goes when nobody uses it any more.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) path: PathBuf,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Err(error) = discard(&self.path) {
            tracing::warn!(%error, "could not take away a checkout that was made for a verification");
        }
        // Only the last one to go empties it.
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl System {
    /// Makes a checkout of a commit with the files that are copied into those of sessions.
    pub(crate) fn lend(&self, files: &TaskFiles, id: SessionId, wanted: &Lending<'_>) -> Result<Lent, Error> {
        let folder = folder(self.places(), id);
        fs::create_dir_all(&folder).map_err(|source| Error::WriteFile { path: folder.clone(), source })?;
        // Where it really is, as that of a session is named behind walls.
        let folder =
            folder.canonicalize().map_err(|source| Error::ReadFile { path: folder.clone(), source })?;
        let path = folder.join(wanted.name);
        discard(&path)?;
        // From here on it goes, whatever fails.
        let lent = Lent { path };
        let new = NewCheckout {
            main: &files.main,
            path: &lent.path,
            branch: BRANCH,
            base: wanted.commit,
            kind: CheckoutKind::Borrowed,
        };
        let checkout = files.snapshots.lend(&new, wanted.onto)?;
        ready::copy_files(&files.main, &checkout, &files.making(self)?.copy, files.secret_files)?;
        Ok(lent)
    }

    /// Takes away what is left of the verifications of a session. Says whether anything was.
    pub(crate) fn clear_verifications(&self, id: SessionId) -> Result<bool, Error> {
        let folder = folder(self.places(), id);
        if fs::symlink_metadata(&folder).is_err() {
            return Ok(false);
        }
        discard(&folder)?;
        Ok(true)
    }

    /// The sessions that checkouts of verifications were made for, with the folder of each.
    pub(super) fn verifications(&self) -> Vec<(SessionId, PathBuf)> {
        let entries = fs::read_dir(self.places().verifications()).into_iter().flatten().flatten();
        let of = |path: PathBuf| Some((path.file_name()?.to_str()?.parse().ok()?, path));
        let mut found: Vec<(SessionId, PathBuf)> = entries.map(|entry| entry.path()).filter_map(of).collect();
        found.sort();
        found
    }
}

fn folder(places: &Places, id: SessionId) -> PathBuf {
    let folder: &Path = &places.verifications();
    folder.join(id.to_string())
}
