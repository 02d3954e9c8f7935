//! Where calls are worked on: the installation and its store, opened when somebody first needs it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_runtime::types::SessionId;
use longhaul_runtime::{Commands, Error, Reader, Settings, System};

use crate::refusal::Refusal;

/// One for the whole process, so that every client finds warm what the last one used.
#[derive(Debug)]
pub(crate) struct Desk {
    settings: Settings,
    commands: Mutex<Option<Arc<Commands>>>,
}

impl Desk {
    /// Opens nothing and makes nothing.
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, commands: Mutex::new(None) }
    }

    /// The installation, as seen from where the server was started.
    pub(crate) fn system(&self) -> System {
        System::new(self.settings.clone())
    }

    /// The installation, as seen from a folder that a client named.
    pub(crate) fn system_at(&self, folder: &str) -> Result<System, Refusal> {
        let directory = self.settings.directory.join(Path::new(folder));
        if !directory.is_dir() {
            return Err(Refusal::bad(format!(
                "`workspacePath` is `{folder}`, and there is no such folder; name the folder that you work in by its absolute path"
            )));
        }
        Ok(System::new(Settings { directory, ..self.settings.clone() }))
    }

    /// The write side. Makes the store if there is none.
    pub(crate) fn commands(&self) -> Result<Arc<Commands>, Error> {
        let mut kept = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commands) = &*kept {
            return Ok(commands.clone());
        }
        let commands = Arc::new(self.system().commands()?);
        *kept = Some(commands.clone());
        Ok(commands)
    }

    /// The write side of a store that has this session; without a store there is none.
    pub(crate) fn commands_for(&self, id: SessionId) -> Result<Arc<Commands>, Error> {
        self.existing()?.ok_or(Error::UnknownSession(id))
    }

    /// The write side if there is a store. Looking for what is not there makes nothing.
    pub(crate) fn existing(&self) -> Result<Option<Arc<Commands>>, Error> {
        let is_open = self.commands.lock().unwrap_or_else(PoisonError::into_inner).is_some();
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
            *self.commands.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}
