//! Where calls are worked on: the installation and its store, opened when somebody first needs it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use longhaul_runtime::gateway::LeafDoor;
use longhaul_runtime::types::SessionId;
use longhaul_runtime::{Commands, Error, Reader, Settings, System};
use tokio_util::sync::CancellationToken;

use crate::name;
use crate::refusal::Refusal;

/// What a call has to work with. All of them share what is open.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    shared: Arc<Shared>,
    /// What serves the tools of sessions that calls lead to.
    leaf_door: Option<LeafDoor>,
    /// When the call has to be answered.
    deadline: Option<Instant>,
}

/// One for the whole process, so that every client finds warm what the last one used.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    kept: Mutex<Option<Kept>>,
    /// Set once nobody waits for answers any more.
    deserted: Arc<AtomicBool>,
    /// The same for whoever waits instead of looking.
    gone: CancellationToken,
}

/// The write side, and what the list of secrets looked like when it was opened.
#[derive(Debug)]
struct Kept {
    commands: Arc<Commands>,
    secrets: Option<(SystemTime, u64)>,
}

impl Desk {
    /// Opens nothing and makes nothing.
    pub(crate) fn new(settings: Settings) -> Self {
        let shared = Shared {
            settings,
            kept: Mutex::new(None),
            deserted: Arc::default(),
            gone: CancellationToken::new(),
        };
        Self { shared: Arc::new(shared), leaf_door: None, deadline: None }
    }

    /// The same desk, in a process that drives sessions.
    pub(crate) fn serving(self, leaf_door: LeafDoor) -> Self {
        Self { leaf_door: Some(leaf_door), ..self }
    }

    /// The same desk, for a call that has to be answered by then, however often it waits.
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self.clone() }
    }

    /// Nobody waits any more: calls are only finished.
    pub(crate) fn desert(&self) {
        self.shared.deserted.store(true, Ordering::Relaxed);
        self.shared.gone.cancel();
    }

    /// Waits until nobody else waits any more.
    pub(crate) async fn deserted(&self) {
        self.shared.gone.cancelled().await;
    }

    fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The installation, as seen from where the server was started.
    pub(crate) fn system(&self) -> System {
        self.system_of(self.settings().clone())
    }

    fn system_of(&self, settings: Settings) -> System {
        let system = System::new(settings).while_somebody_waits(self.shared.deserted.clone());
        let system = match self.leaf_door {
            Some(leaf_door) => system.serving(leaf_door),
            None => system,
        };
        match self.deadline {
            Some(deadline) => system.until(deadline),
            None => system,
        }
    }

    /// The installation, as seen from a folder that a client named.
    pub(crate) fn system_at(&self, folder: &str) -> Result<System, Refusal> {
        let directory = self.settings().directory.join(Path::new(folder));
        if !directory.is_dir() {
            return Err(Refusal::bad(format!(
                "`workspacePath` is `{}`, and there is no such folder; name the folder that you work in by its absolute path",
                name::shown(folder)
            )));
        }
        Ok(self.system_of(Settings { directory, ..self.settings().clone() }))
    }

    /// The write side. Makes the store if there is none. Opened anew when the list of secrets has changed: a server
    /// may live for weeks, and what was added meanwhile must not be stored either.
    pub(crate) fn commands(&self) -> Result<Arc<Commands>, Error> {
        let secrets = self.secrets_mark();
        let mut kept = self.kept();
        if let Some(kept) = kept.as_ref().filter(|kept| kept.secrets == secrets) {
            return Ok(kept.commands.clone());
        }
        let commands = Arc::new(self.system().commands()?);
        *kept = Some(Kept { commands: commands.clone(), secrets });
        Ok(commands)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Kept>> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn secrets_mark(&self) -> Option<(SystemTime, u64)> {
        let metadata = std::fs::metadata(self.settings().places.secrets()).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }

    /// The write side of a store that has this session; without a store there is none.
    pub(crate) fn commands_for(&self, id: SessionId) -> Result<Arc<Commands>, Error> {
        self.existing()?.ok_or(Error::UnknownSession(id))
    }

    /// The write side if there is a store. Looking for what is not there makes nothing.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Commands>>, Error> {
        let is_open = self.kept().is_some();
        if !is_open && self.system().reader()?.is_none() {
            return Ok(None);
        }
        self.commands().map(Some)
    }

    /// The read side, over the store that is open already.
    pub(crate) fn reader(&self) -> Result<Option<Reader>, Error> {
        Ok(self.existing()?.and_then(|commands| commands.reader()))
    }

    /// After an error that a new look at the disk may cure, the next call opens the store anew.
    pub(crate) fn forget_if_broken(&self, error: &Error) {
        if matches!(error, Error::Store(_)) {
            *self.kept() = None;
        }
    }
}
