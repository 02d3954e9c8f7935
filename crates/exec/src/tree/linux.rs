//! Trees on Linux, found in `/proc` by process group, by mark and by descent.

use std::collections::HashSet;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};

use super::Living;
use super::table::{self, Row};
use crate::Error;
use crate::mark::Mark;

/// While a process calls `execve`, its environment reads as empty for a moment.
const EXEC_LOOKS: u32 = 3;
const EXEC_PAUSE: Duration = Duration::from_millis(1);

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
        let mut look = self.look()?;
        for _ in 1..EXEC_LOOKS {
            if !look.unsure {
                break;
            }
            thread::sleep(EXEC_PAUSE);
            look = self.look()?;
        }
        Ok(look.living)
    }

    /// Looks at every process that may come from the root, then at those that came up meanwhile, until none
    /// did. One pass is not enough: a process that starts a successor and dies can stay ahead of it.
    fn look(&mut self) -> Result<Look, Error> {
        let mut rows = Vec::new();
        let mut unjudged = Vec::new();
        let mut last = table::last_pid()?;
        let mut batch = match self.eve.newer(self.root)? {
            Some(pids) => pids,
            None => table::pids()?,
        };
        while !batch.is_empty() {
            for pid in batch {
                let Some(row) = table::row(pid)?.filter(|row| self.may_hold(row)) else { continue };
                rows.push(row);
                if !self.judge(row)? {
                    unjudged.push(row.process);
                }
            }
            let latest = table::last_pid()?;
            batch = newer(last, latest)?;
            last = latest;
        }
        self.add_descendants(&rows);
        let unsure = unjudged.iter().any(|process| !self.members.contains(process));
        rows.retain(|row| row.alive && self.members.contains(&row.process));
        let all_stopped = rows.iter().all(|row| row.stopped);
        let processes = rows.iter().map(|row| row.process).collect();
        Ok(Look { living: Living { processes, all_stopped }, unsure })
    }

    /// Nothing older than the root comes from it. This spares reading most environments.
    fn may_hold(&self, row: &Row) -> bool {
        row.process.started_ticks >= self.root.started_ticks && row.process.pid != getpid()
    }

    /// Adds the process if it carries the mark. Answers whether that could be told at this moment.
    fn judge(&mut self, row: Row) -> Result<bool, Error> {
        if !row.alive || !row.has_memory || self.members.contains(&row.process) {
            return Ok(true);
        }
        let Some(environment) = table::environment(row.process.pid)? else { return Ok(true) };
        if self.mark.is_in(&environment) {
            self.members.insert(row.process);
        }
        Ok(!environment.is_empty())
    }

    /// Adds children of members and groups that members lead, until nothing is new.
    fn add_descendants(&mut self, rows: &[Row]) {
        let mut known = 0;
        while known < self.members.len() {
            known = self.members.len();
            let present: HashSet<i32> = rows
                .iter()
                .filter(|row| self.members.contains(&row.process))
                .map(|row| row.process.pid.as_raw_pid())
                .collect();
            let related =
                rows.iter().filter(|row| present.contains(&row.parent) || present.contains(&row.group));
            self.members.extend(related.map(|row| row.process));
        }
    }
}

/// The processes that got their ids after `last` up to `latest`; all if counting began anew in between.
fn newer(last: Option<i32>, latest: Option<i32>) -> Result<Vec<Pid>, Error> {
    match (last, latest) {
        (Some(last), Some(latest)) if latest < last => table::pids(),
        (Some(last), Some(latest)) => table::processes(last + 1..=latest),
        _ => Ok(Vec::new()),
    }
}

/// What one look at the table showed.
#[derive(Debug)]
struct Look {
    living: Living,
    unsure: bool,
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
