//! What earlier drivers of a session left running: a command that outlived its runner, or a runner from which
//! the session was taken. It is ended, and seen dead, before anything is begun anew.
//!
//! Runners and their commands carry labels in their environment. Only what belongs to an earlier epoch is ended,
//! so that a driver that was replaced without knowing it does not end the one that replaced it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use longhaul_core::session::Session;
use longhaul_events::{Driver, Epoch, SessionId};
use longhaul_exec::Labelled;

use crate::commands::Commands;
use crate::error::Error;

/// As long as a command has to end when it is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// The word for a session of one store. Another store of this machine may hold a copy of the session, whose
/// commands are none of our business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionLabel(String);

impl SessionLabel {
    pub(crate) fn of(id: SessionId, data: &Path) -> Result<Self, Error> {
        let folder = fs::metadata(data).map_err(|source| Error::ReadFile { path: data.into(), source })?;
        Ok(Self(format!("{id}@{:x}-{:x}", folder.dev(), folder.ino())))
    }

    /// What a runner carries. It has no epoch yet when it is started.
    pub(crate) fn of_runner(&self) -> String {
        self.0.clone()
    }

    /// What the commands of a driver carry.
    pub(super) fn of_command(&self, epoch: Epoch) -> String {
        format!("{}.{}", self.0, epoch.0)
    }

    fn is_on(&self, process: &Labelled) -> bool {
        process.labels.iter().any(|label| label.starts_with(&self.0))
    }

    fn is_on_runner(&self, process: &Labelled) -> bool {
        process.labels.contains(&self.0)
    }

    /// Whether a process is the runner itself, and not something that it started.
    pub(crate) fn is_runner(&self, process: &Labelled) -> bool {
        self.is_on_runner(process) && !self.is_on_command(process)
    }

    /// Whether anything of the session is alive: its runner, or what that started.
    pub(crate) fn is_alive(&self) -> bool {
        longhaul_exec::labelled().is_ok_and(|all| all.iter().any(|process| self.is_on(process)))
    }

    fn is_on_command(&self, process: &Labelled) -> bool {
        let is_ours = |label: &String| label.strip_prefix(&self.0).is_some_and(|rest| rest.starts_with('.'));
        process.labels.iter().any(is_ours)
    }

    /// Whether a process is of a command that an earlier driver started.
    fn is_on_command_before(&self, epoch: Epoch, process: &Labelled) -> bool {
        let epoch_of = |label: &String| label.strip_prefix(&self.0)?.strip_prefix('.')?.parse::<u64>().ok();
        process.labels.iter().filter_map(epoch_of).any(|earlier| earlier < epoch.0)
    }
}

/// Whom the end of a session ends too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Commands only: runners do not end each other.
    Commands,
    /// Runners too.
    Everybody,
}

/// Ends all that runs for a session on this machine, sees it dead and counts it.
pub(crate) fn end_all(label: &SessionLabel, whom: Whom) -> Result<usize, Error> {
    let is_meant = |process: &Labelled| match whom {
        Whom::Commands => label.is_on_command(process),
        Whom::Everybody => label.is_on_command(process) || label.is_on_runner(process),
    };
    longhaul_exec::end_labelled(GRACE, &is_meant).map_err(Error::Leftovers)
}

/// The driver that has a session now, as the labels of processes tell it from those before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Latest<'a> {
    pub(super) label: &'a SessionLabel,
    pub(super) epoch: Epoch,
}

/// Ends all that drivers before this one left running on this machine.
pub(super) fn end(commands: &Commands, id: SessionId, latest: Latest<'_>) -> Result<(), Error> {
    let Latest { label, epoch } = latest;
    let others = longhaul_exec::labelled().map_err(Error::Leftovers)?;
    if !others.iter().any(|process| label.is_on(process)) {
        return Ok(());
    }
    let replaced = replaced_by(epoch, &commands.drivers(id)?);
    let is_over = |process: &Labelled| {
        let is_runner = replaced.contains(&(process.id, process.started_ticks));
        (is_runner && label.is_on(process)) || label.is_on_command_before(epoch, process)
    };
    let ended = longhaul_exec::end_labelled(GRACE, &is_over).map_err(Error::Leftovers)?;
    if ended > 0 {
        tracing::info!(session = %id, ended, "ended what an earlier runner left running");
    }
    Ok(())
}

/// The processes that drove before this epoch and not again since.
fn replaced_by(epoch: Epoch, drivers: &[(Driver, Epoch)]) -> BTreeSet<(u32, u64)> {
    let mut latest = BTreeMap::new();
    for (driver, taken) in drivers {
        if let Some(started) = driver.started {
            latest.insert((driver.process, started), *taken);
        }
    }
    latest.into_iter().filter(|(_, taken)| *taken < epoch).map(|(process, _)| process).collect()
}

/// Whether the process that drives a session lives on this machine. `false` also if nobody can tell.
pub(crate) fn is_alive(driver: &Driver) -> bool {
    driver.host == this_host()
        && driver.started.is_some_and(|started| longhaul_exec::is_alive(driver.process, started))
}

/// Whether the process that drove a session is no more, for certain: it was one of this machine, since it was
/// booted, in our own space of process numbers, and nobody of that number and start is there.
pub(crate) fn is_dead(driver: &Driver) -> bool {
    driver.host == this_host()
        && driver.started.is_some()
        && longhaul_exec::started_ticks().is_some()
        && !is_alive(driver)
}

/// Whether somebody has the session who may still be at it.
pub(crate) fn is_driven(session: &Session) -> bool {
    session.lease.as_ref().is_some_and(|lease| !is_dead(&lease.driver))
}

pub(crate) fn this_process() -> Driver {
    Driver { host: this_host(), process: std::process::id(), started: longhaul_exec::started_ticks() }
}

/// Where process numbers mean something: this machine, until it is booted again, in this namespace.
fn this_host() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let numbers = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let numbers: String = numbers.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    match boot.get(..8) {
        Some(boot) if !numbers.is_empty() => format!("{name}/{boot}-{numbers}"),
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(id: &str) -> SessionLabel {
        SessionLabel(format!("{id}@1-2"))
    }

    fn process(labels: &[&str]) -> Labelled {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Labelled { id: 7, started_ticks: 8, labels }
    }

    #[test]
    fn only_commands_of_earlier_drivers_of_the_same_session_and_store_are_over() {
        let mine = label("s-a");
        let earlier = process(&["s-a@1-2", "s-a@1-2.3", "0123"]);
        assert!(mine.is_on(&earlier) && mine.is_on_command_before(Epoch(4), &earlier));
        assert!(!mine.is_on_command_before(Epoch(3), &earlier), "its own");
        assert!(!mine.is_on_command_before(Epoch(2), &earlier), "one that replaced it");
        assert!(mine.is_on_command(&earlier) && mine.is_on_runner(&earlier));
        for other in ["s-b@1-2.3", "s-a@1-3.3", "s-a@1-22.3", "s-a@1-22"] {
            let other = process(&[other]);
            assert!(!mine.is_on_command(&other) && !mine.is_on_runner(&other), "{other:?}");
        }
        for other in ["s-b@1-2.3", "s-a@1-3.3", "s-a@1-22.3", "s-a@1-2", "s-a@1-2.x"] {
            assert!(!mine.is_on_command_before(Epoch(9), &process(&[other])), "{other}");
        }
    }

    #[test]
    fn a_runner_that_drives_again_was_not_replaced() {
        let driver = |process| Driver { host: "here".to_owned(), process, started: Some(5) };
        let drivers =
            [(driver(1), Epoch(1)), (driver(2), Epoch(2)), (driver(3), Epoch(3)), (driver(1), Epoch(4))];
        assert_eq!(replaced_by(Epoch(3), &drivers), BTreeSet::from([(2, 5)]));
        assert_eq!(replaced_by(Epoch(5), &drivers), BTreeSet::from([(1, 5), (2, 5), (3, 5)]));
    }

    #[test]
    fn this_process_is_alive_and_nobody_on_another_host_is() {
        let own = this_process();
        assert!(is_alive(&own) && !is_dead(&own));
        let before = Driver { started: own.started.map(|started| started + 1), ..own.clone() };
        assert!(is_dead(&before), "its number is ours by now");
        assert!(!is_dead(&Driver { host: "elsewhere".to_owned(), ..before }), "nobody can tell from here");
        assert!(!is_alive(&Driver { host: format!("not-{}", own.host), ..own.clone() }));
        assert!(!is_alive(&Driver { started: own.started.map(|started| started + 1), ..own.clone() }));
        assert!(!is_alive(&Driver { started: None, ..own }), "its number may be another's by now");
    }
}
