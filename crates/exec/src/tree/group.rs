//! Trees on systems without a readable process table: the process group alone, seen as one process. What
//! left the group is not found.

use std::collections::HashSet;
use std::io;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use super::Living;
use crate::mark::Mark;
use crate::{Error, Labelled};

/// A process group, by the id of its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    group: Pid,
}

impl Process {
    pub(crate) fn id(self) -> u32 {
        self.group.as_raw_pid().cast_unsigned()
    }

    pub(crate) fn signal(self, signal: Signal) {
        if let Err(error) = kill_process_group(self.group, signal) {
            tracing::debug!(%error, id = self.id(), ?signal, "a signal was refused");
        }
    }
}

/// Unknown: there is no table to look it up in.
pub(crate) const fn own_start_ticks() -> Option<u64> {
    None
}

/// Unknown as well, and then a lease ends by the clock.
pub(crate) const fn is_alive(_id: u32, _started_ticks: u64) -> bool {
    false
}

/// Sends a signal to whoever has the id.
pub(crate) fn signal(id: u32, _started_ticks: Option<u64>, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw)
        && let Err(error) = kill_process(pid, signal)
    {
        tracing::debug!(%error, id, ?signal, "a signal was refused");
    }
}

/// None: without a table nobody is found by a label.
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(crate) const fn labelled() -> Result<Vec<Labelled>, Error> {
    Ok(Vec::new())
}

/// Nobody, for the same reason.
pub(crate) struct Chosen;

impl Chosen {
    pub(crate) fn new(_choice: &dyn Fn(&Labelled) -> bool) -> Self {
        Self
    }

    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "on Linux it can fail and remembers")]
    pub(crate) fn living(&mut self) -> Result<Living, Error> {
        Ok(Living { processes: HashSet::new(), all_stopped: true })
    }
}

/// Nothing: groups need no moment to be told apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eve;

impl Eve {
    #[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
    pub(crate) fn now() -> Result<Self, Error> {
        Ok(Self)
    }
}

#[derive(Debug)]
pub(crate) struct Tree {
    root: Process,
}

impl Tree {
    pub(crate) fn new(_eve: Eve, id: u32, _mark: Mark) -> Result<Self, Error> {
        match i32::try_from(id).ok().and_then(Pid::from_raw) {
            Some(group) => Ok(Self { root: Process { group } }),
            None => Err(Error::ProcessTable { source: io::Error::from(io::ErrorKind::NotFound) }),
        }
    }

    pub(crate) fn root(&self) -> Process {
        self.root
    }

    /// The group, while anything in it is alive. The unreaped leader keeps the id from being used anew; a
    /// group of zombies refuses the test signal.
    #[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
    pub(crate) fn living(&mut self) -> Result<Living, Error> {
        let processes = test_kill_process_group(self.root.group).map(|()| self.root).into_iter().collect();
        Ok(Living { processes, all_stopped: true })
    }
}
