//! What is known about one worktree. Fast: no process, at most one stream of the log, no write.

use std::fs;
use std::path::{Path, PathBuf};

use longhaul_core::session::{At, Session};
use longhaul_events::{CloseOutcome, OwnCheckout, SessionId};
use longhaul_git::{Whereabouts, whereabouts};
use serde::{Deserialize, Serialize};

use super::file::{self, WorktreeFile, check_name};
use super::{WorktreeError, foreign};
use crate::error::Error;
use crate::system::System;

/// In a clone it names the repository that the clone was made from. A hint: an agent can write it.
pub(super) const POINTER: &str = "longhaul.json";

/// The files that most agents take rules from.
const RULES: [&str; 5] =
    ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md"];

/// Everything about one worktree.
#[derive(Debug, Clone, PartialEq)]
pub struct WorktreeInfo {
    pub file: WorktreeFile,
    pub source: Source,
    /// Where the file says something else than the log.
    pub stale: Vec<Disagreement>,
    /// Of `docs/errors`, if the answer is not quite sure.
    pub code: Option<&'static str>,
    /// The newest snapshot.
    pub snapshot: Option<String>,
    pub workset: Option<String>,
    pub pack: Vec<String>,
    pub rules: Vec<String>,
    /// As they were counted last; never counted here.
    pub tokens: Option<u64>,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Log,
    /// The file alone: the log does not know the session.
    File,
    /// No file: it is not one of ours.
    Git,
    Kittify,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    pub field: &'static str,
    pub file: Option<String>,
    pub log: Option<String>,
}

/// What a clone says about where it comes from.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Pointer {
    pub(super) main_dir: PathBuf,
    pub(super) session: String,
    pub(super) name: String,
}

/// Which repository a folder belongs to, and which worktree it is.
pub(super) struct Standing {
    pub(super) common_dir: PathBuf,
    here: Whereabouts,
    name: Option<String>,
    session: Option<Session>,
}

impl System {
    /// The worktree that a person means: by its name, its session or the beginning of either, or without a word the
    /// one that the current folder is in.
    pub fn worktree_info(&self, text: Option<&str>) -> Result<WorktreeInfo, Error> {
        let Some(text) = text else { return self.here(self.standing()?) };
        check_name(text)?;
        match self.worktree_named(text) {
            Err(
                Error::Worktree(WorktreeError::Unknown(_))
                | Error::Git(longhaul_git::Error::NotARepository { .. }),
            ) => self.worktree_called(text),
            found => found,
        }
    }

    /// By its whole name. Quick: nothing is searched for.
    pub(super) fn worktree_named(&self, name: &str) -> Result<WorktreeInfo, Error> {
        self.named(&self.standing()?.common_dir, name)
    }

    /// Where the current folder stands. A clone's word counts only if the log knows that clone.
    pub(super) fn standing(&self) -> Result<Standing, Error> {
        let here = whereabouts(self.directory())?;
        let pointer = file::small_file(&here.git_dir.join(POINTER)).ok();
        let pointer: Option<Pointer> = pointer.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        if let Some(Pointer { main_dir, session, name }) = pointer
            && let Ok(id) = session.parse::<SessionId>()
            && let Some(session) = self.session(id)?
            && is_clone_of(&session, here.top.as_deref(), &main_dir)
        {
            return Ok(Standing { common_dir: main_dir, here, name: Some(name), session: Some(session) });
        }
        Ok(Standing { common_dir: here.common_dir.clone(), here, name: None, session: None })
    }

    pub(super) fn session(&self, id: SessionId) -> Result<Option<Session>, Error> {
        match self.reader()? {
            Some(reader) => reader.session(id),
            None => Ok(None),
        }
    }

    fn named(&self, common_dir: &Path, name: &str) -> Result<WorktreeInfo, Error> {
        if let Some(found) = file::read(common_dir, name)? {
            let session = self.session_of(&found)?;
            return Ok(told(found, session.as_ref()));
        }
        match foreign::read(common_dir, name) {
            Some(found) => Ok(bare(found?, Source::Kittify)),
            None => Err(WorktreeError::Unknown(name.to_owned()).into()),
        }
    }

    fn session_of(&self, file: &WorktreeFile) -> Result<Option<Session>, Error> {
        match file.session.as_deref().and_then(|id| id.parse().ok()) {
            Some(id) => self.session(id),
            None => Ok(None),
        }
    }

    fn here(&self, standing: Standing) -> Result<WorktreeInfo, Error> {
        let Standing { common_dir, here, name, session } = standing;
        let branch = here.branch();
        for name in candidates(&here, name, branch.as_deref()) {
            if check_name(&name).is_err() {
                continue;
            }
            if let Some(found) = file::read(&common_dir, &name)? {
                let session = match session {
                    Some(session) => Some(session),
                    None => self.session_of(&found)?,
                };
                return Ok(told(found, session.as_ref()));
            }
        }
        let place = here.top.as_ref().unwrap_or(&here.git_dir);
        if let Some(own) = session.as_ref().and_then(|session| Some(&session.workplace.as_ref()?.checkout)) {
            // The file was lost; the log still knows all of it.
            let file = WorktreeFile { name: own.name.clone(), ..WorktreeFile::default() };
            return Ok(told(file, session.as_ref()));
        }
        let file = WorktreeFile {
            name: place.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            worktree_path: place.to_string_lossy().into_owned(),
            branch,
            vcs_backend: Some("git".to_owned()),
            ..WorktreeFile::default()
        };
        Ok(bare(file, Source::Git))
    }
}

/// The names that the file of a checkout could have. Nothing is searched for: there may be thousands.
fn candidates(here: &Whereabouts, name: Option<String>, branch: Option<&str>) -> Vec<String> {
    if let Some(name) = name {
        return vec![name];
    }
    if here.git_dir == here.common_dir {
        return Vec::new();
    }
    let folder =
        here.top.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    // A worktree that was moved has another folder and the same branch.
    let moved = branch.and_then(|branch| branch.strip_prefix("longhaul/")).map(str::to_owned);
    folder.into_iter().chain(moved).collect()
}

fn is_clone_of(session: &Session, top: Option<&Path>, main_dir: &Path) -> bool {
    session.workplace.as_ref().is_some_and(|workplace| {
        let OwnCheckout { path, main_dir: known, .. } = &workplace.checkout;
        !workplace.is_gone && top == Some(Path::new(path)) && main_dir == Path::new(known)
    })
}

fn bare(file: WorktreeFile, source: Source) -> WorktreeInfo {
    let top = PathBuf::from(&file.worktree_path);
    WorktreeInfo {
        file,
        source,
        stale: Vec::new(),
        code: None,
        snapshot: None,
        workset: None,
        pack: pack(&top),
        rules: RULES.iter().filter(|name| top.join(name).is_file()).map(|name| (*name).to_owned()).collect(),
        tokens: None,
    }
}

fn pack(top: &Path) -> Vec<String> {
    let entries = fs::read_dir(top.join(".longhaul/pack")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The file, put right by the log.
pub(super) fn told(mut file: WorktreeFile, session: Option<&Session>) -> WorktreeInfo {
    let known = session.and_then(|session| Some((session, session.workplace.as_ref()?)));
    let Some((session, workplace)) = known else {
        let mut info = bare(file, Source::File);
        info.code = Some("E0703");
        return info;
    };
    let own = &workplace.checkout;
    let mut stale = Vec::new();
    let mut put_right = |field: &'static str, said: &mut Option<String>, log: Option<String>| {
        if *said != log {
            stale.push(Disagreement { field, file: said.take(), log: log.clone() });
            *said = log;
        }
    };
    let mut path = Some(std::mem::take(&mut file.worktree_path)).filter(|path| !path.is_empty());
    put_right("worktree_path", &mut path, Some(own.path.clone()));
    file.worktree_path.clone_from(&own.path);
    put_right("branch", &mut file.branch, Some(own.branch.clone()));
    put_right("base_branch", &mut file.base_branch, Some(own.base_branch.clone()));
    put_right("base_commit", &mut file.base_commit, Some(own.base_commit.clone()));
    put_right("session", &mut file.session, Some(session.id.to_string()));
    // These move on with every step, and nobody expects a file to follow.
    file.phase = phase(session);
    file.status = Some(status(session, workplace.is_gone).to_owned());
    let mut info = bare(file, Source::Log);
    info.code = (!stale.is_empty()).then_some("E0703");
    info.stale = stale;
    info.snapshot.clone_from(&workplace.snapshot);
    info
}

fn phase(session: &Session) -> Option<String> {
    match &session.at {
        At::Step(tip) => Some(tip.step.0.clone()),
        At::Work(work) => Some(work.step.0.clone()),
        At::Gate(gate) => Some(gate.step.0.clone()),
        At::Parked(park) => Some(park.step.0.clone()),
        At::Nothing => None,
    }
}

pub(super) fn status(session: &Session, is_gone: bool) -> &'static str {
    match (&session.closed, is_gone) {
        (_, true) => "archived",
        (None, false) => "active",
        (Some(CloseOutcome::Completed), false) => "completed",
        (Some(CloseOutcome::Cancelled { .. }), false) => "cancelled",
        (Some(CloseOutcome::Failed { .. }), false) => "failed",
    }
}
