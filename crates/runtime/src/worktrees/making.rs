//! Making a worktree for a session: base, checkout, files, ports, and only then a word in the log.

use std::path::{Path, PathBuf};

use longhaul_core::session::{Session, Workplace};
use longhaul_core::time::rfc3339;
use longhaul_events::{CheckoutKind, OwnCheckout, SessionId};
use longhaul_git::{Base, Checkout, Freshness, LeftHere, NewCheckout, ObjectId, secure_base, secure_commit};

use super::file::{self, WorktreeFile};
use super::info::{POINTER, Pointer};
use super::ready::{self, SecretFiles};
use super::{WorktreeError, git_kind};
use crate::clock::{Clock as _, SystemClock};
use crate::commands::Commands;
use crate::error::Error;
use crate::system::System;
use crate::workspaces::{self, Located};

/// How much of a goal goes into a name.
const SLUG_LETTERS: usize = 32;
const ID_LETTERS: usize = 8;

/// What to make.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    pub session: SessionId,
    pub kind: CheckoutKind,
    /// The branch to start from; without one the default branch.
    pub base: Option<String>,
    pub secrets: SecretFiles,
    pub by: String,
}

/// Exactly where a worktree starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StartCommit {
    pub(crate) branch: String,
    pub(crate) commit: String,
}

impl StartCommit {
    /// Where another one started.
    pub(crate) fn of(checkout: &OwnCheckout) -> Self {
        Self { branch: checkout.base_branch.clone(), commit: checkout.base_commit.clone() }
    }
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeWorktree {
    pub checkout: OwnCheckout,
    pub warnings: Vec<String>,
}

impl System {
    /// Makes a session's worktree. What an attempt that was cut short has made is taken up.
    pub fn make_worktree(&self, commands: &Commands, new: &NewWorktree) -> Result<MadeWorktree, Error> {
        self.make_worktree_from(commands, new, None)
    }

    /// The same, from a very commit.
    pub(crate) fn make_worktree_from(
        &self,
        commands: &Commands,
        new: &NewWorktree,
        from: Option<&StartCommit>,
    ) -> Result<MadeWorktree, Error> {
        let session = commands.load_session(new.session)?;
        if let Some(Workplace { checkout, is_gone: false, .. }) = &session.workplace {
            let (name, path) = (checkout.name.clone(), checkout.path.clone());
            return Err(longhaul_core::session::Rejection::HasCheckout { name, path }.into());
        }
        let located = self.repository_of(&session)?;
        let name = worktree_name(commands, &session)?;
        let (base, mut warnings) = match from {
            None => base(&located, &name, new)?,
            Some(StartCommit { branch, commit }) => {
                let (session, repository) = (new.session.to_string(), &located.repository);
                (secure_commit(repository, &session, branch, commit)?, Vec::new())
            }
        };
        let path = self.places().checkouts(located.id).join(&name);
        let outline = Outline { located: &located, name: &name, path: &path, base: &base };
        let mut file = first_file(&outline, new)?;
        // Before the checkout, so that whoever comes after a crash knows its base.
        file::write(&located.repository.common_dir, &file)?;
        let checkout = checkout(&outline, new.kind)?;
        let config = self.config()?.checkout;
        let copied = ready::copy_files(&located.repository, &checkout, &config.copy, new.secrets)?;
        warnings.extend(copied.warnings);
        let own = OwnCheckout {
            name: name.clone(),
            path: workspaces::text(&checkout.path)?,
            kind: new.kind,
            main_dir: located.common_dir.clone(),
            branch: branch_of(&name),
            base_branch: base.branch,
            base_commit: base.commit.to_string(),
            secrets: copied.secrets,
            ports: ready::free_ports(config.ports)?,
        };
        if new.kind == CheckoutKind::Borrowed {
            point_back(&checkout, &own, new.session)?;
        }
        commands.record_checkout(new.session, &own)?;
        file.status = Some("active".to_owned());
        file::write(&located.repository.common_dir, &file)?;
        Ok(MadeWorktree { checkout: own, warnings })
    }

    /// The repository that a session was started in.
    fn repository_of(&self, session: &Session) -> Result<Located, Error> {
        let none = || Error::from(WorktreeError::NoRepository(session.id));
        let id = session.workspace.ok_or_else(none)?;
        let reader = self.reader()?.ok_or_else(none)?;
        let workspace = reader.workspace(id)?.ok_or_else(none)?;
        workspaces::locate(Path::new(&workspace.common_dir))
    }
}

fn worktree_name(commands: &Commands, session: &Session) -> Result<String, Error> {
    let id = session.id.to_string();
    let id: String = id.trim_start_matches("s-").chars().take(ID_LETTERS).collect();
    let slug = slug(&commands.goal_of(session.id)?);
    Ok(if slug.is_empty() { id } else { format!("{id}-{slug}") })
}

/// Where a worktree goes, and what it starts from.
struct Outline<'a> {
    located: &'a Located,
    name: &'a str,
    path: &'a Path,
    base: &'a Base,
}

fn first_file(outline: &Outline<'_>, new: &NewWorktree) -> Result<WorktreeFile, Error> {
    let Outline { located, name, path, base } = *outline;
    Ok(WorktreeFile {
        name: name.to_owned(),
        session: Some(new.session.to_string()),
        workspace: Some(located.id.to_string()),
        worktree_path: workspaces::text(path)?,
        branch: Some(branch_of(name)),
        base_branch: Some(base.branch.clone()),
        base_commit: Some(base.commit.to_string()),
        created_at: Some(rfc3339(SystemClock.now())),
        created_by: Some(new.by.clone()),
        vcs_backend: Some("git".to_owned()),
        status: Some("making".to_owned()),
        ..WorktreeFile::default()
    })
}

pub(super) fn branch_of(name: &str) -> String {
    format!("longhaul/{name}")
}

/// The base that an attempt before this one chose, or a fresh one.
fn base(located: &Located, name: &str, new: &NewWorktree) -> Result<(Base, Vec<String>), Error> {
    let before = file::read(&located.repository.common_dir, name).ok().flatten();
    let before = before.filter(|file| file.status.as_deref() == Some("making"));
    if let Some(WorktreeFile { base_branch: Some(branch), base_commit: Some(commit), .. }) = before
        && let Some(commit) = ObjectId::parse(&commit)
        && longhaul_git::resolve(&located.repository, commit.as_str()).is_ok()
    {
        return Ok((Base { branch, commit, freshness: Freshness::NoRemote }, Vec::new()));
    }
    let base = secure_base(&located.repository, &new.session.to_string(), new.base.as_deref())?;
    let warning = match &base.freshness {
        Freshness::Stale { remote, because } => {
            Some(format!("`{remote}` could not be fetched from, so the base may be old: {because}"))
        }
        Freshness::Fetched { .. } | Freshness::NoRemote => None,
    };
    let here = longhaul_git::left_here(&located.repository, &base.commit, new.base.as_deref());
    // Whoever cannot be told what is left here still gets a worktree.
    let left = here.ok().and_then(|here| left_in_words(&base, here));
    Ok((base, warning.into_iter().chain(left).collect()))
}

/// What is here and not in the base: nobody should wonder why it was not seen.
fn left_in_words(base: &Base, here: LeftHere) -> Option<String> {
    let from = match &base.freshness {
        Freshness::Fetched { remote } | Freshness::Stale { remote, .. } => {
            format!("{remote}/{}", base.branch)
        }
        Freshness::NoRemote => base.branch.clone(),
    };
    let counted = |number: u64, what: &str| match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        several => Some(format!("{several} {what}s")),
    };
    let commits = counted(here.commits, "local commit");
    let files = counted(here.files, "changed file");
    let left: Vec<String> = commits.into_iter().chain(files).collect();
    let verb = if here.commits + here.files == 1 { "is" } else { "are" };
    let short: String = base.commit.as_str().chars().take(7).collect();
    (!left.is_empty()).then(|| format!("from {from} {short}; {} {verb} not in it", left.join(" and ")))
}

fn checkout(outline: &Outline<'_>, kind: CheckoutKind) -> Result<Checkout, Error> {
    let Outline { located, name, path, base: Base { commit: base, .. } } = *outline;
    let branch = branch_of(name);
    let (main, kind) = (&located.repository, git_kind(kind));
    match Checkout::make(&NewCheckout { main, path, branch: &branch, base, kind }) {
        // Complete, and the log does not know it yet: it was made just before a crash.
        Err(longhaul_git::Error::CheckoutExists { .. }) => Ok(Checkout::open(path, kind, &main.common_dir)?),
        made => Ok(made?),
    }
}

pub(super) fn point_back(checkout: &Checkout, own: &OwnCheckout, session: SessionId) -> Result<(), Error> {
    let pointer = Pointer {
        main_dir: PathBuf::from(&own.main_dir),
        session: session.to_string(),
        name: own.name.clone(),
    };
    let text = serde_json::to_string(&pointer).expect("its keys are strings");
    file::write_whole(&checkout.git_dir.join(POINTER), text.as_bytes())
}

/// A few words of a goal that can stand in a branch and a path.
fn slug(goal: &str) -> String {
    let mut slug = String::new();
    for word in goal.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let more = usize::from(!slug.is_empty()) + word.len();
        if slug.len() + more > SLUG_LETTERS {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_a_few_whole_words() {
        assert_eq!(slug("Fix the flaky login test!"), "fix-the-flaky-login-test");
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("größe prüfen"), "gr-e-pr-fen");
        assert_eq!(slug("a goal with far too many words to fit into it"), "a-goal-with-far-too-many-words");
        assert_eq!(slug("日本"), "");
    }
}
