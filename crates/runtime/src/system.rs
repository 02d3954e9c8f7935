//! Putting it together: places, settings, store, commands, reader.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use longhaul_core::config::Config;
use longhaul_core::scrub::{Scrubber, Secret};
use longhaul_core::trust::FolderFile;
use longhaul_core::walk::view::StepView;
use longhaul_core::workspace::{Rejection, Workspace};
use longhaul_git::Repository;
use longhaul_store::{Access, Options, SqliteLog, StoreError};

use crate::clock::{Entropy, SystemClock};
use crate::commands::Commands;
use crate::config;
use crate::doctor::{Checkup, Progress};
use crate::error::Error;
use crate::gateway::LeafDoor;
use crate::places::Places;
use crate::reader::Reader;
use crate::runner::Patience;
use crate::secrets;
use crate::workspaces;
use crate::worktrees::StartCommit;

/// What the outside says: environment, current folder, flags.
#[derive(Debug, Clone)]
pub struct Settings {
    pub places: Places,
    /// The environment; its values may be any bytes.
    pub variables: BTreeMap<OsString, OsString>,
    pub directory: PathBuf,
    /// `key=value`, from the command line.
    pub flags: Vec<String>,
}

/// One installation, ready for use. Nothing is opened or made before it is needed.
#[derive(Debug)]
pub struct System {
    settings: Settings,
    deadline: Option<Instant>,
    tell_of_work: Option<fn(&StepView)>,
    /// Set once nobody waits for answers any more.
    deserted: Option<Arc<AtomicBool>>,
    patience: Patience,
    leaf_door: Option<LeafDoor>,
    /// The commit whose `.longhaul/` counts here, instead of what lies in the checkout: for tasks that nobody starts from
    /// there.
    pinned: Option<StartCommit>,
}

impl System {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            deadline: None,
            tell_of_work: None,
            deserted: None,
            patience: Patience::default(),
            leaf_door: None,
            pinned: None,
        }
    }

    /// The same, for a process that drives: this serves the tools of a session to whoever works on it.
    #[must_use]
    pub fn serving(self, leaf_door: LeafDoor) -> Self {
        Self { leaf_door: Some(leaf_door), ..self }
    }

    pub(crate) const fn leaf_door(&self) -> Option<LeafDoor> {
        self.leaf_door
    }

    pub(crate) const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same installation, for which this is one more secret.
    pub(crate) fn keeping_secret(&self, name: &str, value: &str) -> Self {
        self.keeping([Secret { name: name.to_owned(), value: value.as_bytes().to_vec() }])
    }

    /// Their names end as those of secrets do.
    pub(crate) fn keeping(&self, secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut settings = self.settings.clone();
        let variables =
            secrets.into_iter().map(|Secret { name, value }| (name.into(), OsString::from_vec(value)));
        settings.variables.extend(variables);
        Self { pinned: self.pinned.clone(), ..self.with(settings) }
    }

    /// The same, for one call that has to be answered by then, however often it waits.
    #[must_use]
    pub fn until(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// The same, for somebody who watches: told of each step that a call waits for, once, when it begins to wait.
    #[must_use]
    pub fn telling(self, tell: fn(&StepView)) -> Self {
        Self { tell_of_work: Some(tell), ..self }
    }

    pub(crate) const fn told_of_work(&self) -> Option<fn(&StepView)> {
        self.tell_of_work
    }

    /// The same, for callers who may go away: once this is set, nothing is waited for, and what was begun is recorded.
    #[must_use]
    pub fn while_somebody_waits(self, deserted: Arc<AtomicBool>) -> Self {
        Self { deserted: Some(deserted), ..self }
    }

    /// The same with less patience: no test waits for half an hour.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    pub(crate) const fn patience(&self) -> Patience {
        self.patience
    }

    pub(crate) fn is_deserted(&self) -> bool {
        self.deserted.as_ref().is_some_and(|deserted| deserted.load(Ordering::Relaxed))
    }

    /// When a call that waits for a runner gives up waiting, if it has to be answered by a certain time.
    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn places(&self) -> &Places {
        &self.settings.places
    }

    pub(crate) fn variable(&self, name: &OsStr) -> Option<OsString> {
        self.settings.variables.get(name).cloned()
    }

    pub fn directory(&self) -> &Path {
        &self.settings.directory
    }

    /// The write side. Makes the store if there is none.
    pub fn commands(&self) -> Result<Commands, Error> {
        self.commands_with(Access::Write)
    }

    fn commands_with(&self, access: Access) -> Result<Commands, Error> {
        let scrubber = self.scrubber()?;
        let store = Arc::new(self.open_store(access)?);
        Ok(Commands::over_store(store, scrubber, Arc::new(SystemClock), Entropy::System))
    }

    /// The write side of a store that is there; `None` if there is none yet, which is like an empty one.
    pub fn existing_commands(&self) -> Result<Option<Commands>, Error> {
        match self.commands_with(Access::WriteExisting) {
            Ok(commands) => Ok(Some(commands)),
            Err(Error::Store(StoreError::Absent { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The read side; `None` if there is no store yet, which is like an empty one.
    pub fn reader(&self) -> Result<Option<Reader>, Error> {
        match self.open_store(Access::Read) {
            Ok(store) => Ok(Some(Reader::new(Arc::new(store)))),
            Err(StoreError::Absent { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The workspace that a person means, and the reader that found it: by id, name or path, or without a
    /// word the one that the current folder is in.
    pub fn find_workspace(&self, text: Option<&str>) -> Result<(Reader, Workspace), Error> {
        let reader = self.reader()?;
        let Some(text) = text else {
            let id = workspaces::locate(&self.settings.directory)?.id;
            let reader = reader.ok_or(Rejection::NotRegistered)?;
            let workspace = reader.workspace(id)?.ok_or(Rejection::NotRegistered)?;
            return Ok((reader, workspace));
        };
        let reader = reader.ok_or_else(|| Error::UnknownWorkspace(text.to_owned()))?;
        let workspace = reader.find_workspace(text)?;
        Ok((reader, workspace))
    }

    fn open_store(&self, access: Access) -> Result<SqliteLog, StoreError> {
        let Places { data, .. } = &self.settings.places;
        let poke = Some(self.settings.places.poke_socket());
        SqliteLog::open(&Options { folder: data.clone(), poke, access })
    }

    /// What must never be stored or shown.
    pub fn scrubber(&self) -> Result<Scrubber, Error> {
        Ok(Scrubber::new(&self.secrets()?))
    }

    /// The same, with values that are secret in one place only.
    pub(crate) fn scrubber_with(&self, more: Vec<Secret>) -> Result<Scrubber, Error> {
        let mut known = self.secrets()?;
        known.extend(more);
        Ok(Scrubber::new(&known))
    }

    fn secrets(&self) -> Result<Vec<Secret>, Error> {
        let mut known = secrets::from_file(&self.settings.places.secrets())?;
        let variables = self.settings.variables.iter();
        known.extend(secrets::from_environment(variables.map(|(name, value)| (name.clone(), value.clone()))));
        Ok(known)
    }

    /// The settings in force in the current folder.
    pub fn config(&self) -> Result<Config, Error> {
        self.config_with(self.workspace_layer()?)
    }

    /// The settings in force where no workspace adds to them.
    pub fn config_outside_workspaces(&self) -> Result<Config, Error> {
        self.config_with(None)
    }

    /// The settings that files hold, without what an agent can say by its environment and by flags.
    pub(crate) fn config_of_files(&self) -> Result<Config, Error> {
        config::load(&self.settings.places, self.workspace_layer()?, |_| None, &[])
    }

    /// What the user's own file says, and nothing else.
    pub(crate) fn users_config(&self) -> Result<Config, Error> {
        config::load(&self.settings.places, None, |_| None, &[])
    }

    fn config_with(&self, workspace: Option<longhaul_core::config::Layer>) -> Result<Config, Error> {
        let variable =
            |name: &str| self.settings.variables.get(OsStr::new(name))?.to_str().map(str::to_owned);
        config::load(&self.settings.places, workspace, variable, &self.settings.flags)
    }

    /// A folder that is in no registered and trusted workspace has no settings of its own.
    fn workspace_layer(&self) -> Result<Option<longhaul_core::config::Layer>, Error> {
        let Some(reader) = self.reader()? else { return Ok(None) };
        if reader.workspaces_registered()? == 0 {
            return Ok(None);
        }
        let Ok(located) = workspaces::locate(&self.settings.directory) else { return Ok(None) };
        let repository = &located.repository;
        let Some(checkout) = repository.checkout.as_ref().or(repository.main_checkout.as_ref()) else {
            return Ok(None);
        };
        let Some(workspace) = reader.workspace(located.id)? else { return Ok(None) };
        // What cannot be hashed cannot be trusted; whoever lists or starts something there is told why.
        let Ok((files, _)) = self.folder_files(repository) else { return Ok(None) };
        let present = longhaul_core::trust::folder_hash(&files);
        config::workspace_layer(checkout, &files, workspace.trust_state(present))
    }

    /// The files of `.longhaul/` that count here, and where they were read.
    pub(crate) fn folder_files(&self, repository: &Repository) -> Result<(Vec<FolderFile>, String), Error> {
        match &self.pinned {
            Some(start) => workspaces::committed_files(repository, &start.commit),
            None => workspaces::folder_files(repository),
        }
    }

    pub(crate) const fn pinned(&self) -> Option<&StartCommit> {
        self.pinned.as_ref()
    }

    /// One that serves the same, seen from elsewhere.
    fn with(&self, settings: Settings) -> Self {
        Self { leaf_door: self.leaf_door, patience: self.patience, ..Self::new(settings) }
    }

    /// The same installation as somebody sees it who starts a task in a repository, from a commit of it.
    pub(crate) fn pinned_at(&self, directory: &Path, start: &StartCommit) -> Self {
        Self { pinned: Some(start.clone()), ..self.standing_in(directory) }
    }

    /// The same installation as somebody sees it who stands in another folder.
    pub(crate) fn standing_in(&self, directory: &Path) -> Self {
        self.with(Settings { directory: directory.to_owned(), ..self.settings.clone() })
    }

    /// Looks at everything and names every problem with its remedy.
    pub fn checkup(&self, progress: &mut dyn Progress) -> Checkup {
        crate::doctor::checkup(self, progress)
    }
}
