//! Clean-up: what nobody needs any more goes, once all of it is known to be elsewhere. A dry run unless told else.

use std::path::{Path, PathBuf};

use longhaul_events::{DeliveryAct, SessionId};
use longhaul_git::{Fate, Joined, Merged, ObjectId, Snapshot, Snapshots, Stays, Target};

use super::file::{self, WorktreeFile};
use super::keeping::{in_words, on_record};
use super::list::{Orphan, WorktreeRow};
use super::{Place, WorktreeError, setup};
use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use crate::{terminal, workspaces};

/// Whether anything is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanMode {
    DryRun,
    Apply,
}

/// What somebody wants cleaned up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clean {
    /// Only this worktree, by its name or its session.
    pub only: Option<String>,
    pub mode: CleanMode,
    pub unmerged: Unmerged,
    pub by: String,
}

/// What becomes of work that is in no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmerged {
    Stays,
    /// It goes, and stays in a snapshot. A person's to say.
    IsDiscarded,
}

/// What became of a worktree, or would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanRow {
    pub name: String,
    pub path: PathBuf,
    pub state: CleanState,
    pub because: String,
    pub snapshot: Option<String>,
    /// How it is removed after all, or brought back.
    pub remedy: Option<String>,
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
    /// Judges the worktrees of the repository that the current folder is in, and removes what may go.
    pub fn clean_worktrees(&self, commands: &Commands, clean: &Clean) -> Result<Vec<CleanRow>, Error> {
        if clean.unmerged == Unmerged::IsDiscarded {
            terminal::refuse_agents()?;
        }
        let common_dir = self.standing()?.common_dir;
        if clean.mode == CleanMode::Apply {
            let located = workspaces::locate(&common_dir)?;
            let snapshots = Snapshots::open(&self.places().snapshots(located.id), &located.repository)?;
            snapshots.settle_removals(&self.places().checkouts(located.id))?;
        }
        let cleaning = Cleaning { system: self, commands, clean, common_dir: &common_dir };
        let only = clean.only.as_deref().map(|text| self.worktree_info(Some(text))).transpose()?;
        let only = only.map(|info| info.file.name);
        let is_meant = |row: &WorktreeRow| only.as_ref().is_none_or(|name| *name == row.name);
        let rows: Result<Vec<CleanRow>, Error> =
            self.worktree_list()?.into_iter().filter(is_meant).map(|row| cleaning.one(row)).collect();
        match (rows?, only) {
            (rows, Some(name)) if rows.is_empty() => Err(WorktreeError::Unknown(name).into()),
            (rows, _) => Ok(rows),
        }
    }
}

struct Cleaning<'a> {
    system: &'a System,
    commands: &'a Commands,
    clean: &'a Clean,
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
        if let (Some(session), Some(Orphan::LeftOver)) = (&session, &row.orphan) {
            return self.left_over(session.id, row);
        }
        let session = session.filter(|session| session.workplace.is_some());
        match (session, &row.orphan) {
            (Some(session), Some(Orphan::PathMissing)) => self.missing(row, &Place::of(session)?),
            (
                Some(_),
                Some(orphan @ (Orphan::Husk | Orphan::NotListed | Orphan::LeftOver | Orphan::Unknown(_))),
            ) => {
                let because = format!("it is not what was made there any more ({})", orphan.word());
                Ok(kept(row, because))
            }
            (Some(session), None | Some(Orphan::UnknownClone)) if session.closed.is_none() => {
                let (id, verb) =
                    (session.id, if session.agent.is_some() { "stop" } else { "session cancel" });
                let remedy = Some(format!("`longhaul {verb} {id}` closes it"));
                Ok(CleanRow { remedy, ..kept(row, "its session is open".to_owned()) })
            }
            (Some(session), None | Some(Orphan::UnknownClone)) => self.judged(row, &Place::of(session)?),
            (None, _) => {
                Ok(kept(row, "the log does not know it, so nobody can say what is in it".to_owned()))
            }
        }
    }

    /// Nobody worked in it: it holds nothing but what it was made from.
    fn left_over(&self, id: SessionId, row: WorktreeRow) -> Result<CleanRow, Error> {
        let because = "left over from a verification".to_owned();
        if self.clean.mode == CleanMode::DryRun {
            return Ok(cleaned(row, CleanState::WouldBeRemoved, because, None));
        }
        self.system.clear_verifications(id)?;
        Ok(cleaned(row, CleanState::Removed, because, None))
    }

    fn missing(&self, row: WorktreeRow, place: &Place) -> Result<CleanRow, Error> {
        let because = "its folder is gone".to_owned();
        if self.clean.mode == CleanMode::DryRun {
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
        let fate = snapshots.judge(&place.main, &wanted, &place.own.base_branch)?;
        let (because, snapshot) = match fate {
            Fate::Stays { because, snapshot }
                if in_a_snapshot(&because) && self.is_landed(place, &snapshots, &snapshot)? =>
            {
                (format!("delivered, and merged into `{}`", place.own.base_branch), snapshot)
            }
            Fate::Stays { because, snapshot } if self.is_discarded(&because) => {
                (format!("discarded: {}", why(&because)), snapshot)
            }
            Fate::Stays { because, snapshot } => {
                let on_record = on_record(snapshot, "before a clean-up");
                self.commands.record_snapshot(place.session.id, &on_record)?;
                let remedy = in_a_snapshot(&because).then(|| {
                    let name = &place.own.name;
                    format!("`longhaul worktree clean {name} --apply --discard` keeps it in a snapshot and removes it")
                });
                let snapshot = Some(on_record.snapshot);
                return Ok(CleanRow { remedy, ..cleaned(row, CleanState::Kept, why(&because), snapshot) });
            }
            Fate::MayGo { merged, snapshot } => (how(&merged), snapshot),
        };
        let kept_now = on_record(snapshot.clone(), "before a clean-up");
        self.commands.record_snapshot(place.session.id, &kept_now)?;
        let id = Some(kept_now.snapshot);
        if self.clean.mode == CleanMode::DryRun {
            return Ok(cleaned(row, CleanState::WouldBeRemoved, because, id));
        }
        if snapshots.remove(&place.main, &wanted, &snapshot)?.is_none() {
            return Ok(cleaned(row, CleanState::Kept, "somebody wrote to it just now".to_owned(), id));
        }
        self.forget(place, &because)?;
        let remedy = id.as_ref().map(|id| {
            let short: String = id.chars().take(12).collect();
            format!("`longhaul worktree restore {short}` brings it back")
        });
        Ok(CleanRow { remedy, ..cleaned(row, CleanState::Removed, because, id) })
    }

    /// Whether what was delivered from a checkout is merged, and is all that is in it. Nobody commits in a checkout that a
    /// pipeline delivers from.
    fn is_landed(&self, place: &Place, snapshots: &Snapshots, snapshot: &Snapshot) -> Result<bool, Error> {
        let tree = &snapshot.tree;
        for act in self.commands.deliveries(place.session.id)? {
            let Some(receipt) = act.receipt else { continue };
            let id = |key: &str| receipt[key].as_str().and_then(ObjectId::parse);
            match (act.act, id("commit"), id("base"), id("tree")) {
                (DeliveryAct::Merge, Some(_), _, _) if receipt["change"] == *tree.as_str() => {
                    return Ok(true);
                }
                // A person may have merged the branch that it was delivered to.
                (DeliveryAct::Commit, Some(commit), Some(base), Some(delivered))
                    if snapshots.join(&place.base, tree, &base)? == Joined::Tree(delivered.clone()) =>
                {
                    let target = Target { branch: &place.own.base_branch, base: &place.base };
                    if snapshots.merged(&place.main, &commit, target)? != Merged::No {
                        return Ok(true);
                    }
                }
                (
                    DeliveryAct::Commit
                    | DeliveryAct::Branch
                    | DeliveryAct::PullRequest
                    | DeliveryAct::Comment
                    | DeliveryAct::Merge
                    | DeliveryAct::RemoveBranch
                    | DeliveryAct::Close,
                    _,
                    _,
                    _,
                ) => {}
            }
        }
        Ok(false)
    }

    fn is_discarded(&self, stays: &Stays) -> bool {
        self.clean.unmerged == Unmerged::IsDiscarded && in_a_snapshot(stays)
    }

    /// Puts on record that it is gone, and its file into the archive.
    fn forget(&self, place: &Place, because: &str) -> Result<(), Error> {
        let is_gone = place.session.workplace.as_ref().is_some_and(|workplace| workplace.is_gone);
        if !is_gone {
            self.commands.record_removal(place.session.id, &self.clean.by, because)?;
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
    CleanRow { name: row.name, path: row.path, state, because, snapshot, remedy: None }
}

/// Whether what keeps a worktree is all in the snapshot.
const fn in_a_snapshot(stays: &Stays) -> bool {
    match stays {
        Stays::Dirty { .. } | Stays::Unmerged => true,
        Stays::NotKept { .. } | Stays::NoHead => false,
    }
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
