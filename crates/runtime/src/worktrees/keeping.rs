//! Snapshots of a session's worktree: taken, listed, compared, brought back.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_core::session::{KeptAs, KeptSnapshot, Workplace};
use longhaul_core::time::rfc3339;
use longhaul_events::{CheckoutKind, SessionId, Timestamp};
use longhaul_git::{
    ChangeKind, Checkout, Kept, LeftOut, NewCheckout, ObjectId, Snapshot, Snapshots, TakeSnapshot,
};

use super::file::{self, WorktreeFile};
use super::making::point_back;
use super::ready::{self, SecretFiles};
use super::{Place, WorktreeError, git_kind};
use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use crate::workspaces;

/// A snapshot in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRow {
    pub snapshot: String,
    pub at: String,
    pub because: String,
}

/// A file that differs from the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub change: &'static str,
    pub path: String,
}

impl From<longhaul_git::Change> for ChangedFile {
    fn from(change: longhaul_git::Change) -> Self {
        let word = match change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Modified => "modified",
            ChangeKind::TypeChanged => "type changed",
        };
        Self { change: word, path: change.path.to_string_lossy().into_owned() }
    }
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredWorktree {
    pub session: SessionId,
    pub name: String,
    pub path: String,
    pub snapshot: String,
    /// What was there before, to go back to.
    pub before: Option<String>,
}

impl System {
    /// Keeps all files of a session's worktree; `None` if it has none of its own.
    pub fn keep_worktree(
        &self,
        commands: &Commands,
        id: SessionId,
        because: &str,
    ) -> Result<Option<KeptSnapshot>, Error> {
        self.keep_as(commands, id, because, KeptAs::Between)
    }

    /// The same, and what it is of goes on record with it.
    pub(crate) fn keep_as(
        &self,
        commands: &Commands,
        id: SessionId,
        because: &str,
        as_what: KeptAs,
    ) -> Result<Option<KeptSnapshot>, Error> {
        let session = commands.load_session(id)?;
        match &session.workplace {
            Some(Workplace { is_gone: false, .. }) => {}
            Some(_) | None => return Ok(None),
        }
        let place = Place::of(session)?;
        let snapshots = place.snapshots(self.places())?;
        if !Path::new(&place.own.path).exists() {
            // A removal was cut short: it is back in its place now, or it was removed and the log not told.
            snapshots.settle_removals(&self.places().checkouts(place.workspace))?;
            if !Path::new(&place.own.path).exists() {
                return Ok(None);
            }
        }
        let checkout = place.files();
        let taken = snapshots.take(&place.wanted(&checkout, because, &id.to_string()))?;
        let kept = on_record(taken, because);
        commands.record_kept(id, &kept, as_what)?;
        Ok(Some(kept))
    }

    /// The snapshots of a session, the newest first.
    pub fn worktree_snapshots(&self, id: SessionId) -> Result<Vec<KeptRow>, Error> {
        let (place, snapshots) = self.kept_place(id)?;
        let row = |kept: Kept| KeptRow {
            snapshot: kept.id.to_string(),
            at: rfc3339(Timestamp(kept.at_s.saturating_mul(1000))),
            because: kept.because,
        };
        Ok(snapshots.list(&place.session.id.to_string())?.into_iter().map(row).collect())
    }

    /// The files of a worktree that differ from its base.
    pub fn worktree_changes(&self, id: SessionId) -> Result<Vec<ChangedFile>, Error> {
        let (place, snapshots) = self.kept_place(id)?;
        let checkout = place.checkout()?;
        let changes = snapshots.changes(&place.wanted(&checkout, "", &id.to_string()))?;
        Ok(changes.into_iter().map(ChangedFile::from).collect())
    }

    /// The files that differ between two trees of sessions of one repository.
    pub(crate) fn worktree_differences(
        &self,
        id: SessionId,
        old: &ObjectId,
        new: &ObjectId,
    ) -> Result<Vec<ChangedFile>, Error> {
        let (_, snapshots) = self.kept_place(id)?;
        Ok(snapshots.changes_between(old, new)?.into_iter().map(ChangedFile::from).collect())
    }

    /// The same as a patch.
    pub fn worktree_patch(&self, id: SessionId) -> Result<Vec<u8>, Error> {
        let (place, snapshots) = self.kept_place(id)?;
        let checkout = place.checkout()?;
        Ok(snapshots.patch(&place.wanted(&checkout, "", &id.to_string()))?)
    }

    /// The session that a snapshot is of: that of the worktree we stand in, or any other of this repository.
    pub fn snapshot_session(&self, snapshot: &str) -> Result<SessionId, Error> {
        let common_dir = self.standing()?.common_dir;
        let located = workspaces::locate(&common_dir)?;
        let snapshots = Snapshots::open(&self.places().snapshots(located.id), &located.repository)?;
        let here = self.worktree_session(None).ok();
        let has = |session: &String| snapshots.find(session, snapshot).is_ok();
        if let Some(here) = here.filter(|here| has(&here.to_string())) {
            return Ok(here);
        }
        let mut fitting: Vec<String> = snapshots.sessions()?.into_iter().filter(has).collect();
        if fitting.len() > 1 {
            let (text, fitting) = (snapshot.to_owned(), fitting.join(", "));
            return Err(WorktreeError::Ambiguous { text, fitting }.into());
        }
        let session = fitting.pop().and_then(|session| session.parse().ok());
        session.ok_or_else(|| WorktreeError::NoSuchSnapshot(snapshot.to_owned()).into())
    }

    /// Brings a snapshot back, after a snapshot of what is there. A worktree that is gone is made again.
    pub fn restore_worktree(
        &self,
        commands: &Commands,
        id: SessionId,
        snapshot: &str,
    ) -> Result<RestoredWorktree, Error> {
        let (place, snapshots) = self.kept_place(id)?;
        let session = id.to_string();
        let kept = snapshots.find(&session, snapshot)?;
        snapshots.settle_removals(&self.places().checkouts(place.workspace))?;
        let (name, path) = (place.own.name.clone(), place.own.path.clone());
        let because = format!("before a restore of {}", &kept.id.as_str()[..12]);
        let is_gone = place.session.workplace.as_ref().is_some_and(|workplace| workplace.is_gone);
        let mut before = None;
        if Path::new(&path).exists() && place.checkout().is_err() {
            let taken = snapshots.take(&place.wanted(&place.files(), &because, &session))?;
            let damaged = before.insert(on_record(taken, &because));
            commands.record_snapshot(id, damaged)?;
            set_aside(&place)?;
        }
        let is_there = Path::new(&path).exists();
        let made = if is_there { None } else { Some(self.remake(&snapshots, &place, &kept)?) };
        // Also if it was made again just before a crash.
        if is_gone {
            commands.record_checkout(id, &place.own)?;
        }
        let restored = if let Some(made) = made {
            made
        } else {
            let checkout = place.checkout()?;
            let wanted = place.wanted(&checkout, &because, &session);
            // On record before anything is written over.
            let before = on_record(snapshots.take(&wanted)?, &because);
            commands.record_snapshot(id, &before)?;
            snapshots.restore(&wanted, &kept)?
        };
        if let Some(taken) = restored.before {
            commands.record_snapshot(id, before.insert(on_record(taken, &because)))?;
        }
        refresh_file(&place)?;
        let due = place.session.workplace.as_ref().and_then(|workplace| workplace.due.as_ref());
        if let Some(node) = place.session.node().filter(|_| due.is_some()) {
            let because = "brought back by a rewind".to_owned();
            let (snapshot, tree) = (kept.id.to_string(), kept.tree.to_string());
            let head = kept.head.as_ref().map(ToString::to_string);
            let back = KeptSnapshot { snapshot, tree, head, because, left_out: Vec::new() };
            commands.record_kept(id, &back, KeptAs::Beginning(node))?;
        }
        let before = before.map(|before| before.snapshot);
        Ok(RestoredWorktree { session: id, name, path, snapshot: kept.id.to_string(), before })
    }

    /// Puts the files in place that a rewind wants back, if one does. Done again after a crash, it comes to the same.
    pub(crate) fn bring_back(
        &self,
        commands: &Commands,
        id: SessionId,
    ) -> Result<Option<RestoredWorktree>, Error> {
        let session = commands.load_session(id)?;
        match session.workplace {
            Some(Workplace { due: Some(due), is_gone: false, .. }) => {
                self.restore_worktree(commands, id, &due).map(Some)
            }
            Some(_) | None => Ok(None),
        }
    }

    /// With what no snapshot holds: the word about where it comes from, and files that are copied.
    fn remake(
        &self,
        snapshots: &Snapshots,
        place: &Place,
        kept: &Kept,
    ) -> Result<longhaul_git::Restored, Error> {
        let new = NewCheckout {
            main: &place.main,
            path: Path::new(&place.own.path),
            branch: &place.own.branch,
            base: &place.base,
            kind: git_kind(place.own.kind),
        };
        let restored = snapshots.remake(&place.session.id.to_string(), &new, kept)?;
        if place.own.kind == CheckoutKind::Borrowed {
            point_back(&restored.checkout, &place.own, place.session.id)?;
        }
        // Whoever had no secrets before has none now.
        let secrets = if place.own.secrets.is_empty() { SecretFiles::Withhold } else { SecretFiles::Give };
        ready::copy_files(&place.main, &restored.checkout, &self.config()?.checkout.copy, secrets)?;
        Ok(restored)
    }

    fn kept_place(&self, id: SessionId) -> Result<(Place, Snapshots), Error> {
        let session = self.session(id)?.ok_or(Error::UnknownSession(id))?;
        let place = Place::of(session)?;
        let snapshots = place.snapshots(self.places())?;
        Ok((place, snapshots))
    }
}

impl Place {
    pub(super) fn wanted<'a>(
        &'a self,
        checkout: &'a Checkout,
        because: &'a str,
        session: &'a str,
    ) -> TakeSnapshot<'a> {
        TakeSnapshot { session, checkout, base: &self.base, because, secret: &self.secrets }
    }
}

/// A folder that is no checkout of ours any more is in nobody's way, and what is ignored in it is not lost.
fn set_aside(place: &Place) -> Result<(), Error> {
    let path = Path::new(&place.own.path);
    let failed = |source| Error::WriteFile { path: path.to_owned(), source };
    let mut names = (1u32..).map(|number| PathBuf::from(format!("{}.aside-{number}", place.own.path)));
    let aside = names.find(|aside| fs::symlink_metadata(aside).is_err());
    let aside = aside.expect("there are more numbers than folders");
    fs::rename(path, &aside).map_err(failed)?;
    tracing::warn!(path = %aside.display(), "a worktree that was damaged was set aside");
    Ok(())
}

/// Puts the file about a worktree back in its place.
fn refresh_file(place: &Place) -> Result<(), Error> {
    let found = file::read(&place.main.common_dir, &place.own.name).ok().flatten();
    let file = WorktreeFile {
        name: place.own.name.clone(),
        session: Some(place.session.id.to_string()),
        workspace: Some(place.workspace.to_string()),
        worktree_path: place.own.path.clone(),
        branch: Some(place.own.branch.clone()),
        base_branch: Some(place.own.base_branch.clone()),
        base_commit: Some(place.own.base_commit.clone()),
        vcs_backend: Some("git".to_owned()),
        status: Some("active".to_owned()),
        ..found.unwrap_or_default()
    };
    file::write(&place.main.common_dir, &file)
}

pub(super) fn on_record(taken: Snapshot, because: &str) -> KeptSnapshot {
    KeptSnapshot {
        snapshot: taken.id.to_string(),
        tree: taken.tree.to_string(),
        head: taken.head.map(|head| head.to_string()),
        because: because.to_owned(),
        left_out: taken.left_out.iter().map(in_words).collect(),
    }
}

pub(super) fn in_words(left_out: &LeftOut) -> String {
    match left_out {
        LeftOut::Unreadable { path } => format!("`{}` cannot be read", path.display()),
        LeftOut::NotAFile { path } => format!("`{}` is no file any more", path.display()),
        LeftOut::NestedHistory { path } => {
            format!("`{}` is a repository of its own; its files are kept, its history is not", path.display())
        }
        LeftOut::Submodule { path } => {
            format!(
                "`{}` stands at another commit of a repository of its own, which cannot be kept or delivered",
                path.display()
            )
        }
        LeftOut::Commits { because } => format!("its commits cannot be kept: {because}"),
        LeftOut::Index { because } => format!("its index cannot be read: {because}"),
    }
}
