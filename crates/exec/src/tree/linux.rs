//! Trees on Linux, found in `/proc` by process group, by mark and by descent.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};

use super::Living;
use super::sweep::{Look, Sign, Start, sweep, until_sure};
use super::table::{self, Row};
use crate::mark::{Mark, marks_in};
use crate::{Error, Labelled};

/// Within this time no system gives out so many ids that it arrives at the same ones again.
const SHORT_LIFE: Duration = Duration::from_millis(250);
const FEW_IDS: i32 = 64;

/// One process, told apart from a later one with the same id by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(super) pid: Pid,
    pub(super) started_ticks: u64,
}

impl Process {
    pub(crate) fn id(self) -> u32 {
        self.pid.as_raw_pid().cast_unsigned()
    }

    /// Sends a signal to this process and to no other that took its id. Whether it worked shows in the
    /// table, so a refusal is only logged.
    pub(crate) fn signal(self, signal: Signal) {
        if let Err(error) = self.try_signal(signal) {
            tracing::debug!(%error, id = self.id(), ?signal, "a signal was refused");
        }
    }

    fn try_signal(self, signal: Signal) -> Result<(), Error> {
        let handle = pidfd_open(self.pid, PidfdFlags::empty());
        // Checked after the handle is taken: if the process is still there, the handle is for it.
        if !table::row(self.pid)?.is_some_and(|row| row.process == self) {
            return Ok(());
        }
        let sent = match handle {
            Ok(handle) => pidfd_send_signal(handle, signal),
            // Some containers forbid the call.
            Err(Errno::NOSYS | Errno::PERM) => kill_process(self.pid, signal),
            Err(error) => Err(error),
        };
        match sent {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(Error::ProcessTable { source: error.into() }),
        }
    }
}

/// When this process started; `None` if the table does not say.
pub(crate) fn own_start_ticks() -> Option<u64> {
    table::row(getpid()).ok().flatten().map(|row| row.process.started_ticks)
}

/// Whether that very process is there and not dead.
pub(crate) fn is_alive(id: u32, started_ticks: u64) -> bool {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let row = pid.and_then(|pid| table::row(pid).ok().flatten());
    row.is_some_and(|row| row.alive && row.process.started_ticks == started_ticks)
}

/// Sends a signal to that very process, if it is there.
pub(crate) fn signal(id: u32, started_ticks: Option<u64>, signal: Signal) {
    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    if let (Some(pid), Some(started_ticks)) = (pid, started_ticks) {
        Process { pid, started_ticks }.signal(signal);
    }
}

/// The moment before a program is started: what gets its id later may come from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Eve {
    last_pid: Option<i32>,
    at: Instant,
}

impl Eve {
    pub(crate) fn now() -> Result<Self, Error> {
        Ok(Self { last_pid: table::last_pid()?, at: Instant::now() })
    }

    /// The processes that came up since. `None` when they cannot be told from their ids alone, or when
    /// looking at all processes is less work.
    fn newer(&self, root: Process) -> Result<Option<Vec<Pid>>, Error> {
        let (Some(last), Some(latest)) = (self.last_pid, table::last_pid()?) else { return Ok(None) };
        // A container may be shown something else than the last id. Then the root's own is not in between.
        let told_apart = (last + 1..=latest).contains(&root.pid.as_raw_pid());
        if !told_apart || latest - last > FEW_IDS || self.at.elapsed() > SHORT_LIFE {
            return Ok(None);
        }
        table::processes(last + 1..=latest).map(Some)
    }
}

/// A program's process and all that came from it.
#[derive(Debug)]
pub(crate) struct Tree {
    eve: Eve,
    root: Process,
    mark: Mark,
    /// Once seen to belong, always belonging: parent, group and environment can change.
    members: HashSet<Process>,
}

impl Tree {
    /// The tree of a child of ours that is not yet reaped.
    pub(crate) fn new(eve: Eve, id: u32, mark: Mark) -> Result<Self, Error> {
        let row = match i32::try_from(id).ok().and_then(Pid::from_raw) {
            Some(pid) => table::row(pid)?,
            None => None,
        };
        let Some(Row { process: root, .. }) = row else {
            return Err(Error::ProcessTable { source: io::Error::from(io::ErrorKind::NotFound) });
        };
        Ok(Self { eve, root, mark, members: HashSet::from([root]) })
    }

    /// The process that the program was started as.
    pub(crate) fn root(&self) -> Process {
        self.root
    }

    /// The processes of the tree that are alive now.
    pub(crate) fn living(&mut self) -> Result<Living, Error> {
        until_sure(|| self.look())
    }

    fn look(&mut self) -> Result<Look, Error> {
        let Self { eve, root, mark, members } = self;
        let last = table::last_pid()?;
        let batch = match eve.newer(*root)? {
            Some(pids) => pids,
            None => table::pids()?,
        };
        // Nothing older than the root comes from it.
        let may_hold =
            |row: &Row| row.process.started_ticks >= root.started_ticks && row.process.pid != getpid();
        let is_in = |_, environment: &[u8]| mark.is_in(environment);
        sweep(members, Start { last, batch }, &Sign { may_hold: &may_hold, is_in: &is_in })
    }
}

/// Processes that somebody chose by their labels, and all that came from them. Never ourselves.
pub(crate) struct Chosen<'a> {
    choice: &'a dyn Fn(&Labelled) -> bool,
    members: HashSet<Process>,
}

impl<'a> Chosen<'a> {
    pub(crate) fn new(choice: &'a dyn Fn(&Labelled) -> bool) -> Self {
        Self { choice, members: HashSet::new() }
    }

    /// Those that are alive now.
    pub(crate) fn living(&mut self) -> Result<Living, Error> {
        until_sure(|| {
            let start = Start { last: table::last_pid()?, batch: table::pids()? };
            let is_in = |process, environment: &[u8]| {
                read(process, environment).is_some_and(|found| (self.choice)(&found))
            };
            let may_hold = |row: &Row| row.process.pid != getpid();
            sweep(&mut self.members, start, &Sign { may_hold: &may_hold, is_in: &is_in })
        })
    }
}

/// Every process but ourselves that carries a label or a mark.
pub(crate) fn labelled() -> Result<Vec<Labelled>, Error> {
    let found = RefCell::new(Vec::new());
    // Chooses none, and so keeps descendants out that carry nothing.
    let note = |labelled: &Labelled| {
        found.borrow_mut().push(labelled.clone());
        false
    };
    Chosen::new(&note).living()?;
    let mut found = found.into_inner();
    found.sort_by_key(|labelled| labelled.id);
    found.dedup();
    Ok(found)
}

fn read(process: Process, environment: &[u8]) -> Option<Labelled> {
    let labels: Vec<String> =
        marks_in(environment).map(|label| String::from_utf8_lossy(label).into_owned()).collect();
    let (id, started_ticks) = (process.id(), process.started_ticks);
    (!labels.is_empty()).then_some(Labelled { id, started_ticks, labels })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Program, start};

    #[test]
    fn a_signal_does_not_reach_another_process_that_took_the_id() {
        let running = start(&Program::new("sleep").arg("600")).unwrap();
        let pid = Pid::from_raw(running.id().cast_signed()).unwrap();
        let process = table::row(pid).unwrap().unwrap().process;
        let earlier = Process { started_ticks: process.started_ticks - 1, ..process };

        earlier.signal(Signal::KILL);
        assert!(table::row(pid).unwrap().unwrap().alive);

        process.signal(Signal::KILL);
        assert_eq!(running.wait().unwrap().outcome, Outcome::Signalled(9));
    }

    #[test]
    fn the_tree_of_a_child_does_not_hold_ourselves_or_a_sibling() {
        let sibling = start(&Program::new("sleep").arg("600")).unwrap();
        let eve = Eve::now().unwrap();
        let child = start(&Program::new("sleep").arg("600")).unwrap();
        let mut tree = Tree::new(eve, child.id(), Mark::fresh().unwrap()).unwrap();
        assert_eq!(tree.living().unwrap().processes, HashSet::from([tree.root()]));
        assert_eq!(tree.root().id(), child.id());
        sibling.kill().unwrap();
        child.kill().unwrap();
    }
}
