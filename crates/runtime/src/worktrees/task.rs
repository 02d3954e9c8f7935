//! The files of a task, whoever of its sessions asks: where they are, and what git says of them.

use std::path::{Path, PathBuf};

use longhaul_core::config::{CheckoutConfig, Config};
use longhaul_core::policy::facts::Bump;
use longhaul_core::policy::{check_files, dependencies};
use longhaul_core::session::{Rejection, Session};
use longhaul_events::SessionId;
use longhaul_git::{
    ChangeSet, Checkout, CheckoutKind, FileChange, FileStatus, ObjectId, Repository, Snapshots, TakeSnapshot,
};
use serde_json::{Value, json};

use super::Place;
use super::ready::SecretFiles;
use crate::commands::Commands;
use crate::error::Error;
use crate::system::{Settings, System};
use crate::workspaces;

/// How deep sessions lie below each other at most; an import may claim anything.
const MOST_LEVELS: usize = 16;

/// The checkout that a task works in, with all that is needed to look at it.
pub(crate) struct TaskFiles {
    /// Whose checkout it is.
    pub(crate) owner: SessionId,
    pub(crate) main: Repository,
    checkout: Checkout,
    /// The commit that the work began at.
    pub(crate) start: ObjectId,
    /// The branch that it is meant for; without one the default branch.
    pub(crate) branch: Option<String>,
    secrets: Vec<PathBuf>,
    /// Whether files that are secret were given to it.
    pub(crate) secret_files: SecretFiles,
    pub(crate) ports: Vec<u16>,
    /// The person's checkout, whose settings count.
    settings: Option<PathBuf>,
    pub(crate) snapshots: Snapshots,
}

impl System {
    /// Finds the checkout of a task: that of the session or of one above it, or a person's own.
    pub(crate) fn task_files(&self, commands: &Commands, id: SessionId) -> Result<TaskFiles, Error> {
        let mut session = commands.load_session(id)?;
        for _ in 0..MOST_LEVELS {
            if session.workplace.is_some() {
                return self.own_files(Place::of(session)?);
            }
            let Some(parent) = session.parent else { break };
            session = commands.load_session(parent)?;
        }
        self.files_of_person(commands, &session)
    }

    fn own_files(&self, place: Place) -> Result<TaskFiles, Error> {
        let (checkout, snapshots) = (place.checkout()?, place.snapshots(self.places())?);
        let secret_files =
            if place.own.secrets.is_empty() { SecretFiles::Withhold } else { SecretFiles::Give };
        let Place { session, main, own, base, secrets, .. } = place;
        // What the base has is no secret, and would look as if it had been deleted.
        let is_known = |path: &PathBuf| {
            path.to_str()
                .is_some_and(|path| longhaul_git::has_path(&main, base.as_str(), path).unwrap_or(false))
        };
        let secrets = secrets.into_iter().filter(|path| !is_known(path)).collect();
        let settings = main.main_checkout.clone();
        Ok(TaskFiles {
            owner: session.id,
            main,
            checkout,
            start: base,
            branch: Some(own.base_branch),
            secrets,
            secret_files,
            ports: own.ports,
            settings,
            snapshots,
        })
    }

    fn files_of_person(&self, commands: &Commands, session: &Session) -> Result<TaskFiles, Error> {
        let owner = session.id;
        let found = commands.checkout_of(owner)?.ok_or(Rejection::NoCheckout)?;
        let located = workspaces::locate(Path::new(&found.path))?;
        let main = located.repository;
        let checkout = Checkout {
            // Its objects are those of the main repository, as in a linked worktree.
            kind: CheckoutKind::Linked,
            path: PathBuf::from(&found.path),
            git_dir: main.git_dir.clone(),
            main_dir: main.common_dir.clone(),
        };
        let head = checkout.head().ok_or_else(|| Error::from(Rejection::NoCheckout))?;
        let start = longhaul_git::parting(&main, &head, None)?;
        let snapshots = Snapshots::open(&self.places().snapshots(located.id), &main)?;
        Ok(TaskFiles {
            owner,
            main,
            checkout,
            start,
            branch: None,
            secrets: Vec::new(),
            secret_files: if session.taint.is_clean() { SecretFiles::Give } else { SecretFiles::Withhold },
            ports: Vec::new(),
            settings: Some(PathBuf::from(&found.path)),
            snapshots,
        })
    }
}

impl TaskFiles {
    /// What was changed since the work began, as git has it.
    pub(crate) fn change(&self, system: &System) -> Result<Value, Error> {
        let owner = self.owner.to_string();
        let change = self.snapshots.change(&self.wanted(&owner))?;
        let lines: u64 =
            change.files.iter().map(|file| file.added.unwrap_or(0) + file.removed.unwrap_or(0)).sum();
        let mut seen = json!({
            "base": self.start.as_str(),
            "head": change.head.as_ref().map(ObjectId::as_str),
            "tree": change.tree.as_str(),
            "files": change.files.iter().flat_map(rows).collect::<Vec<_>>(),
            "lines": lines,
            "is_empty": change.files.is_empty(),
            "commits": change.commits,
        });
        if let Some(bumps) = self.dependencies(&change)? {
            seen["dependencies"] = json!(bumps);
        }
        let check_files = self.check_files(system, &change)?;
        if !check_files.is_empty() {
            seen["check_files"] = json!(check_files);
        }
        Ok(seen)
    }

    /// The changed files that decide what the workspace's checks come to.
    fn check_files(&self, system: &System, change: &ChangeSet) -> Result<Vec<String>, Error> {
        let config = self.config(system)?;
        let setup: Vec<&[String]> =
            config.checkout.setup.iter().map(|command| command.run.as_slice()).collect();
        let checks: Vec<&[String]> = config.checks.iter().map(|check| check.run.as_slice()).collect();
        let commands = check_files::Commands { checks: &checks, setup: &setup };
        let paths = change.files.iter().flat_map(|file| [Some(&file.path), file.from.as_ref()]);
        let paths: Vec<String> = paths.flatten().map(|path| path.to_string_lossy().into_owned()).collect();
        let changed: Vec<&str> = paths.iter().map(String::as_str).collect();
        let read = |path: &str| self.text_at(&self.start, path).ok().flatten();
        Ok(check_files::touched(commands, &changed, &read).into_iter().map(str::to_owned).collect())
    }

    /// Which versions of others' code changed; nothing if one of the files that name them cannot be read.
    fn dependencies(&self, change: &ChangeSet) -> Result<Option<Vec<Bump>>, Error> {
        let mut all = Vec::new();
        for file in &change.files {
            let (path, from) =
                (file.path.to_string_lossy(), file.from.as_ref().map(|from| from.to_string_lossy()));
            let before = from.as_ref().unwrap_or(&path);
            if !dependencies::named_in(&path) && !dependencies::named_in(before) {
                continue;
            }
            let was = if file.status == FileStatus::Added {
                None
            } else {
                Some(self.text_at(&self.start, before)?)
            };
            let is = if file.status == FileStatus::Deleted {
                None
            } else {
                Some(self.text_at(&change.tree, &path)?)
            };
            // Too large, or no text: nobody can tell.
            let (None | Some(Some(_)), None | Some(Some(_))) = (&was, &is) else { return Ok(None) };
            let (was, is) = (was.flatten(), is.flatten());
            let Some(bumps) = dependencies::bumps(&path, was.as_deref(), is.as_deref()) else {
                return Ok(None);
            };
            all.extend(bumps);
        }
        Ok(Some(all))
    }

    fn text_at(&self, tree: &ObjectId, path: &str) -> Result<Option<String>, Error> {
        Ok(self.snapshots.file_of(tree, path)?.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// The files as they are now, as a tree.
    pub(crate) fn tree(&self) -> Result<ObjectId, Error> {
        let owner = self.owner.to_string();
        Ok(self.snapshots.tree(&self.wanted(&owner))?)
    }

    /// How fresh checkouts of the repository are made ready, wherever whoever asks stands.
    pub(crate) fn making(&self, system: &System) -> Result<CheckoutConfig, Error> {
        Ok(self.config(system)?.checkout)
    }

    fn config(&self, system: &System) -> Result<Config, Error> {
        let Some(directory) = self.settings.clone() else { return system.config() };
        let settings = Settings { directory, ..system.settings().clone() };
        System::new(settings).config()
    }

    pub(crate) fn head(&self) -> Option<ObjectId> {
        self.checkout.head()
    }

    fn wanted<'a>(&'a self, owner: &'a str) -> TakeSnapshot<'a> {
        TakeSnapshot {
            session: owner,
            checkout: &self.checkout,
            base: &self.start,
            because: "",
            secret: &self.secrets,
        }
    }
}

/// A file as rules see it. A rename is two rows: where it was is touched as much as where it is.
fn rows(file: &FileChange) -> Vec<Value> {
    let status = match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed => "renamed",
        FileStatus::TypeChanged => "type_changed",
    };
    let path = file.path.to_string_lossy();
    let mut row = json!({
        "path": path,
        "status": status,
        "added": file.added.unwrap_or(0),
        "removed": file.removed.unwrap_or(0),
    });
    if file.added.is_none() {
        row["is_binary"] = json!(true);
    }
    let Some(from) = file.from.as_ref().map(|from| from.to_string_lossy()) else { return vec![row] };
    row["from"] = json!(from);
    vec![row, json!({ "path": from, "status": "deleted", "added": 0, "removed": 0, "to": path })]
}
