//! Clean-up: what nobody needs any more goes, once all of it is known to be elsewhere. A dry run unless told else.

use std::path::{Path, PathBuf};

use longhaul_git::{Fate, Merged, Snapshots, Stays};

use super::file::{self, WorktreeFile};
use super::keeping::{in_words, on_record};
use super::list::{Orphan, WorktreeRow};
use super::{Place, setup};
use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use crate::workspaces;

/// Whether anything is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanMode {
    DryRun,
    Apply,
}

/// What became of a worktree, or would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanRow {
    pub name: String,
    pub path: PathBuf,
    pub state: CleanState,
    pub because: String,
    pub snapshot: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanState {
    Removed,
    WouldBeRemoved,
    Kept,
    /// Only its file: the worktree itself is long gone.
    Archived,
    WouldBeArchived,
}

impl System {
    /// Judges every worktree of the repository that the current folder is in, and removes what may go.
    pub fn clean_worktrees(
        &self,
        commands: &Commands,
        mode: CleanMode,
        by: &str,
    ) -> Result<Vec<CleanRow>, Error> {
        let common_dir = self.standing()?.common_dir;
        if mode == CleanMode::Apply {
            let located = workspaces::locate(&common_dir)?;
            let snapshots = Snapshots::open(&self.places().snapshots(located.id), &located.repository)?;
            snapshots.settle_removals(&self.places().checkouts(located.id))?;
        }
        let cleaning = Cleaning { system: self, commands, mode, by, common_dir: &common_dir };
        let mut rows = Vec::new();
        for row in self.worktree_list()? {
            rows.push(cleaning.one(row)?);
        }
        Ok(rows)
    }
}

struct Cleaning<'a> {
    system: &'a System,
    commands: &'a Commands,
    mode: CleanMode,
    by: &'a str,
    common_dir: &'a Path,
}

impl Cleaning<'_> {
    fn one(&self, row: WorktreeRow) -> Result<CleanRow, Error> {
        if let Some(problem) = row.problem.clone() {
            return Ok(kept(row, problem));
        }
        let session = match row.session.as_deref().and_then(|id| id.parse().ok()) {
            Some(id) => self.system.session(id)?,
            None => None,
        };
        let session = session.filter(|session| session.workplace.is_some());
        match (session, &row.orphan) {
            (Some(session), Some(Orphan::PathMissing)) => self.missing(row, &Place::of(session)?),
            (Some(_), Some(orphan @ (Orphan::Husk | Orphan::NotListed | Orphan::Unknown(_)))) => {
                let because = format!("it is not what was made there any more ({})", orphan.word());
                Ok(kept(row, because))
            }
            (Some(session), None | Some(Orphan::UnknownClone)) if session.closed.is_none() => {
                Ok(kept(row, "its session is open".to_owned()))
            }
            (Some(session), None | Some(Orphan::UnknownClone)) => self.judged(row, &Place::of(session)?),
            (None, _) => {
                Ok(kept(row, "the log does not know it, so nobody can say what is in it".to_owned()))
            }
        }
    }

    fn missing(&self, row: WorktreeRow, place: &Place) -> Result<CleanRow, Error> {
        let because = "its folder is gone".to_owned();
        if self.mode == CleanMode::DryRun {
            return Ok(cleaned(row, CleanState::WouldBeArchived, because, None));
        }
        self.forget(place, &because)?;
        Ok(cleaned(row, CleanState::Archived, because, None))
    }

    fn judged(&self, row: WorktreeRow, place: &Place) -> Result<CleanRow, Error> {
        if !is_below(Path::new(&place.own.path), &self.system.places().checkouts(place.workspace)) {
            return Ok(kept(row, "it is not among our checkouts".to_owned()));
        }
        let (snapshots, checkout) = (place.snapshots(self.system.places())?, place.checkout()?);
        let id = place.session.id.to_string();
        let wanted = place.wanted(&checkout, "before a clean-up", &id);
        let (merged, snapshot) = match snapshots.judge(&place.main, &wanted, &place.own.base_branch)? {
            Fate::Stays { because, snapshot } => {
                let on_record = on_record(snapshot, "before a clean-up");
                self.commands.record_snapshot(place.session.id, &on_record)?;
                let snapshot = Some(on_record.snapshot);
                return Ok(cleaned(row, CleanState::Kept, why(&because), snapshot));
            }
            Fate::MayGo { merged, snapshot } => (merged, snapshot),
        };
        let because = how(&merged);
        let kept_now = on_record(snapshot.clone(), "before a clean-up");
        self.commands.record_snapshot(place.session.id, &kept_now)?;
        let id = Some(kept_now.snapshot);
        if self.mode == CleanMode::DryRun {
            return Ok(cleaned(row, CleanState::WouldBeRemoved, because, id));
        }
        if snapshots.remove(&place.main, &wanted, &snapshot)?.is_none() {
            return Ok(cleaned(row, CleanState::Kept, "somebody wrote to it just now".to_owned(), id));
        }
        self.forget(place, &because)?;
        Ok(cleaned(row, CleanState::Removed, because, id))
    }

    /// Puts on record that it is gone, and its file into the archive.
    fn forget(&self, place: &Place, because: &str) -> Result<(), Error> {
        let is_gone = place.session.workplace.as_ref().is_some_and(|workplace| workplace.is_gone);
        if !is_gone {
            self.commands.record_removal(place.session.id, self.by, because)?;
        }
        setup::forget(&self.system.places().setup(place.workspace, &place.own.name));
        let found = file::read(self.common_dir, &place.own.name)?;
        let file = WorktreeFile { status: Some("archived".to_owned()), ..found.unwrap_or_default() };
        file::archive(self.common_dir, &WorktreeFile { name: place.own.name.clone(), ..file })
    }
}

fn is_below(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match (real(path), real(folder)) {
        (Some(path), Some(folder)) => path.parent() == Some(&folder),
        _ => false,
    }
}

fn kept(row: WorktreeRow, because: String) -> CleanRow {
    cleaned(row, CleanState::Kept, because, None)
}

fn cleaned(row: WorktreeRow, state: CleanState, because: String, snapshot: Option<String>) -> CleanRow {
    CleanRow { name: row.name, path: row.path, state, because, snapshot }
}

fn why(stays: &Stays) -> String {
    match stays {
        Stays::Dirty { changes } => {
            let named: Vec<String> =
                changes.iter().take(3).map(|change| format!("`{}`", change.path.display())).collect();
            let more = changes.len().saturating_sub(named.len());
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("files are not committed: {}{more}", named.join(", "))
        }
        Stays::Unmerged => "its commits are not in the base branch".to_owned(),
        Stays::NotKept { left_out } => left_out.iter().map(in_words).collect::<Vec<_>>().join("; "),
        Stays::NoHead => "its head cannot be read".to_owned(),
    }
}

fn how(merged: &Merged) -> String {
    match merged {
        Merged::NothingToMerge => "nothing was changed in it".to_owned(),
        Merged::ByHistory { into } => format!("merged into `{into}`"),
        Merged::ByContent { into } => format!("all of it is in `{into}`"),
        Merged::No => "not merged".to_owned(),
    }
}
