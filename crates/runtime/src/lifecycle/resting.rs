//! Asking the runners of a daemon to let go of their sessions. See `runner::rest` for what they do then.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use longhaul_events::SessionId;
use longhaul_exec::Plea;
use longhaul_store::views::SessionStatus;

use super::wish::Farewell;
use crate::error::Error;
use crate::runner::{SessionLabel, is_alive};
use crate::system::System;

/// How long runners are waited for. One that is not at a boundary by then goes on to it by itself.
const REST_WITHIN: Duration = Duration::from_secs(30);
/// The same for those that were told to hurry.
const REST_AT_ONCE_WITHIN: Duration = Duration::from_secs(8);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Between two requests: signals that come together count as one.
const ASK_AGAIN: Duration = Duration::from_millis(300);

/// A runner of a task that a daemon started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub session: SessionId,
    pub process: u32,
    pub(super) started: u64,
}

impl Left {
    pub(super) fn is_there(&self) -> bool {
        longhaul_exec::is_alive(self.process, self.started)
    }
}

/// What became of the runners of a daemon.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rested {
    /// These sessions wait for whoever serves next.
    pub sessions: Vec<SessionId>,
    /// These runners were asked and are still at something that is not cut.
    pub left: Vec<Left>,
}

impl Rested {
    pub(super) fn of(runners: Vec<Left>) -> Self {
        let (left, gone): (Vec<Left>, Vec<Left>) = runners.into_iter().partition(Left::is_there);
        Self { sessions: gone.into_iter().map(|one| one.session).collect(), left }
    }
}

/// The runners of all tasks that waited for their turn: somebody who serves started them. What a person started at a shell, or
/// an editor has done, is not among them.
pub(super) fn runners(system: &System) -> Result<Vec<Left>, Error> {
    let Some(reader) = system.reader()? else { return Ok(Vec::new()) };
    let (tasks, _) = reader.tasks()?;
    let queued = tasks.into_iter().filter(|view| view.task.orders.is_some());
    let open: BTreeSet<SessionId> = queued
        .flat_map(|view| view.sessions)
        .filter(|row| row.status == SessionStatus::Open)
        .map(|row| row.id)
        .collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let processes = longhaul_exec::labelled().map_err(Error::Leftovers)?;
    let mut found = Vec::new();
    for session in open {
        let label = SessionLabel::of(session, &system.places().data)?;
        let own = processes.iter().filter(|process| label.is_runner(process));
        found.extend(own.map(|process| Left {
            session,
            process: process.id,
            started: process.started_ticks,
        }));
    }
    Ok(found)
}

/// How many sessions are at work of which no runner is the daemon's.
pub(super) fn others_at_work(system: &System, runners: &[Left]) -> Result<usize, Error> {
    let Some(reader) = system.reader()? else { return Ok(0) };
    let own: BTreeSet<u32> = runners.iter().map(|one| one.process).collect();
    let open = reader.sessions()?.into_iter().filter(|row| row.status == SessionStatus::Open);
    let at_work = open.filter_map(|row| row.driver).filter(is_alive);
    Ok(at_work.filter(|driver| !own.contains(&driver.process)).count())
}

/// Asks all runners to rest and waits for them, as long as the farewell has it. It may become more urgent meanwhile.
pub(super) fn rest(system: &System, mut farewell: impl FnMut() -> Farewell) -> Result<Rested, Error> {
    let runners = runners(system)?;
    let ask = |runners: &[Left]| {
        for one in runners {
            longhaul_exec::ask(one.process, Some(one.started), Plea::End);
        }
    };
    ask(&runners);
    let (start, mut hurried) = (Instant::now(), None::<Instant>);
    while runners.iter().any(Left::is_there) {
        longhaul_exec::wait_for_signal(LOOK_EVERY);
        if farewell() == Farewell::Now && hurried.is_none() && start.elapsed() >= ASK_AGAIN {
            ask(&runners);
            hurried = Some(Instant::now());
        }
        if hurried.map_or(start.elapsed() >= REST_WITHIN, |since| since.elapsed() >= REST_AT_ONCE_WITHIN) {
            break;
        }
    }
    Ok(Rested::of(runners))
}

#[cfg(test)]
mod tests;
