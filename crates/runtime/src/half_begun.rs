//! Runs whose starter died before somebody was assigned: nobody would ever go on with them, and their ticket would be taken
//! for ever. Whoever comes next ends them.
//!
//! A starter holds a file of its own for as long as it starts. One that nobody holds was left by a death.

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;

use longhaul_events::SessionId;
use longhaul_store::views::SessionStatus;

use crate::commands::Commands;
use crate::error::Error;
use crate::reader::TaskView;
use crate::system::System;

/// What is said of a run that was ended like this.
const BECAUSE: &str = "whoever started it died before anybody was assigned; start it again";

/// Held while a run is being started.
#[derive(Debug)]
pub(crate) struct Starting {
    path: PathBuf,
    _file: File,
}

impl Drop for Starting {
    fn drop(&mut self) {
        // One that stays makes the next one look in vain.
        let _ = fs::remove_file(&self.path);
    }
}

impl System {
    /// Says that a run is being started, until it is dropped.
    pub(crate) fn starting(&self) -> Result<Starting, Error> {
        let folder = self.places().starting();
        fs::create_dir_all(&folder).map_err(|source| Error::WriteFile { path: folder.clone(), source })?;
        let name = format!("{}-{:?}.lock", std::process::id(), std::thread::current().id());
        let path = folder.join(name);
        let file = File::create(&path).and_then(|file| file.lock().map(|()| file));
        let file = file.map_err(|source| Error::WriteFile { path: path.clone(), source })?;
        Ok(Starting { path, _file: file })
    }

    /// Ends runs that were left half begun. Nothing is done while anybody starts one: it cannot be told from the others.
    pub fn end_half_begun(&self, commands: &Commands) -> Result<Vec<SessionId>, Error> {
        let Some(reader) = commands.reader() else { return Ok(Vec::new()) };
        let entries = fs::read_dir(self.places().starting()).into_iter().flatten().flatten();
        // An agent ends nothing of others.
        if entries.count() == 0 || crate::terminal::refuse_agents().is_err() {
            return Ok(Vec::new());
        }
        // Before the files are looked at: whoever begins after this is not among them.
        let suspects: Vec<SessionId> = reader.tasks()?.0.iter().filter_map(half_begun).collect();
        let Some(left) = self.left_by_the_dead() else { return Ok(Vec::new()) };
        let mut ended = Vec::new();
        for id in suspects {
            let session = commands.load_session(id)?;
            if session.agent.is_none() && session.closed.is_none() && session.lease.is_none() {
                commands.cancel_session(id, &crate::terminal::user_name(), Some(BECAUSE))?;
                ended.push(id);
            }
        }
        left.iter().for_each(|path| drop(fs::remove_file(path)));
        Ok(ended)
    }

    /// The files that nobody holds; `None` if somebody holds one.
    fn left_by_the_dead(&self) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(self.places().starting()).into_iter().flatten().flatten();
        let mut left = Vec::new();
        for path in entries.map(|entry| entry.path()) {
            match File::open(&path).map(|file| file.try_lock()) {
                Ok(Ok(())) => left.push(path),
                Ok(Err(TryLockError::WouldBlock)) => return None,
                // It went away just now, or cannot be looked at, and then it says nothing.
                Ok(Err(TryLockError::Error(_))) | Err(_) => {}
            }
        }
        Some(left)
    }
}

/// The only session of a run that nobody was assigned to. One that a person walks has no budget.
fn half_begun(view: &TaskView) -> Option<SessionId> {
    let [row] = &view.sessions[..] else { return None };
    let is_open = view.state.is_open() && row.status == SessionStatus::Open;
    let is_untouched = row.driven.agent.is_none() && row.steps_finished == 0 && row.driver.is_none();
    (is_open && is_untouched && view.task.budget.is_some()).then_some(row.id)
}
