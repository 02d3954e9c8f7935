//! All worktrees of a repository, and which of them nobody is responsible for.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::file::{self, WorktreeFile};
use super::info::{Source, told};
use super::{WorktreeError, foreign};
use crate::error::Error;
use crate::runner::is_driven;
use crate::system::System;
use crate::workspaces;

/// A worktree in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeRow {
    pub name: String,
    pub session: Option<String>,
    pub branch: Option<String>,
    pub path: PathBuf,
    pub status: Option<String>,
    pub source: Source,
    pub orphan: Option<Orphan>,
    /// What is wrong with its file.
    pub problem: Option<String>,
    pub code: Option<&'static str>,
}

/// Why nobody is responsible for a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Orphan {
    PathMissing,
    /// A folder without `.git`.
    Husk,
    /// A linked worktree that git does not list.
    NotListed,
    /// A clone that the log does not know.
    UnknownClone,
    /// Made for a verification whose runner was killed.
    LeftOver,
    /// It cannot be told, so it counts as none.
    Unknown(String),
}

impl Orphan {
    /// In one word or two.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::PathMissing => "path missing",
            Self::Husk => "husk",
            Self::NotListed => "not listed",
            Self::UnknownClone => "unknown clone",
            Self::LeftOver => "left over",
            Self::Unknown(_) => "cannot tell",
        }
    }
}

impl System {
    /// The worktrees of the repository that the current folder is in, by name.
    pub fn worktree_list(&self) -> Result<Vec<WorktreeRow>, Error> {
        let common_dir = self.standing()?.common_dir;
        let listed = longhaul_git::linked_worktrees(&common_dir).map_err(|error| error.to_string());
        let mut rows = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in file::all(&common_dir)? {
            let row = match entry.read {
                Ok(file) => self.row(file, &listed)?,
                Err(error) => malformed(entry.name, &error),
            };
            seen.insert(row.path.clone());
            rows.push(row);
        }
        for entry in foreign::all(&common_dir) {
            rows.push(match entry.read {
                Ok(file) => foreign_row(file, &listed),
                Err(error) => malformed(entry.name, &error),
            });
        }
        rows.extend(self.without_a_file(&common_dir, &seen)?);
        rows.extend(self.left_over(&common_dir)?);
        Ok(rows)
    }

    /// Checkouts of verifications that nobody is at any more.
    fn left_over(&self, common_dir: &Path) -> Result<Vec<WorktreeRow>, Error> {
        let found = self.verifications();
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let located = workspaces::locate(common_dir)?;
        let mut rows = Vec::new();
        for (id, path) in found {
            let Some(session) = self.session(id)? else { continue };
            if session.workspace == Some(located.id) && !is_driven(&session) {
                rows.push(WorktreeRow {
                    name: format!("verification-{id}"),
                    session: Some(id.to_string()),
                    branch: None,
                    path,
                    status: None,
                    source: Source::Git,
                    orphan: Some(Orphan::LeftOver),
                    problem: None,
                    code: None,
                });
            }
        }
        Ok(rows)
    }

    fn row(&self, file: WorktreeFile, listed: &Result<Vec<PathBuf>, String>) -> Result<WorktreeRow, Error> {
        let session = match file.session.as_deref().and_then(|id| id.parse().ok()) {
            Some(id) => self.session(id)?,
            None => None,
        };
        let info = told(file, session.as_ref());
        let path = PathBuf::from(&info.file.worktree_path);
        let is_known = info.source == Source::Log;
        Ok(WorktreeRow {
            orphan: orphan(&path, listed, is_known),
            name: info.file.name,
            session: info.file.session,
            branch: info.file.branch,
            path,
            status: info.file.status,
            source: info.source,
            problem: None,
            code: info.code,
        })
    }

    /// Folders among our checkouts that no file speaks of, as after a crash.
    fn without_a_file(&self, common_dir: &Path, seen: &BTreeSet<PathBuf>) -> Result<Vec<WorktreeRow>, Error> {
        let located = workspaces::locate(common_dir)?;
        let folder = self.places().checkouts(located.id);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let unknown =
            entries.filter(|path| path.is_dir() && path.extension().is_none() && !seen.contains(path));
        let row = |path: PathBuf| WorktreeRow {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            session: None,
            branch: None,
            path,
            status: None,
            source: Source::Git,
            orphan: Some(Orphan::UnknownClone),
            problem: None,
            code: None,
        };
        let mut rows: Vec<WorktreeRow> = unknown.map(row).collect();
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(rows)
    }
}

fn foreign_row(file: WorktreeFile, listed: &Result<Vec<PathBuf>, String>) -> WorktreeRow {
    let path = PathBuf::from(&file.worktree_path);
    WorktreeRow {
        orphan: orphan(&path, listed, true),
        name: file.name,
        session: None,
        branch: file.branch,
        path,
        status: file.status,
        source: Source::Kittify,
        problem: None,
        code: None,
    }
}

fn malformed(name: String, error: &WorktreeError) -> WorktreeRow {
    WorktreeRow {
        name,
        session: None,
        branch: None,
        path: PathBuf::new(),
        status: Some("malformed".to_owned()),
        source: Source::File,
        orphan: None,
        problem: Some(error.to_string()),
        code: Some(error.code()),
    }
}

fn orphan(path: &Path, listed: &Result<Vec<PathBuf>, String>, is_known: bool) -> Option<Orphan> {
    if fs::symlink_metadata(path).is_err() {
        return Some(Orphan::PathMissing);
    }
    match fs::symlink_metadata(path.join(".git")) {
        Err(_) => Some(Orphan::Husk),
        Ok(found) if found.is_dir() => (!is_known).then_some(Orphan::UnknownClone),
        Ok(_) => match listed {
            Ok(listed) if listed.iter().any(|known| known == path) => None,
            Ok(_) => Some(Orphan::NotListed),
            Err(problem) => Some(Orphan::Unknown(problem.clone())),
        },
    }
}
