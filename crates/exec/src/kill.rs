//! Ends a tree of processes and verifies it: first asks, then freezes and kills until none is left. Must
//! never report a process as dead because a signal was sent.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::Error;
use crate::tree::{Living, Process};

/// After SIGKILL only the kernel can hold a process back, for instance in a hanging network file system.
const FORCE_LIMIT: Duration = Duration::from_secs(10);
/// A process that waits for the kernel may not stop, and those that do should not stand still for long.
const FREEZE_LIMIT: Duration = Duration::from_millis(200);
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Waits between two looks at the tree.
pub(crate) type Pause<'a> = dyn FnMut(Duration) -> Result<(), Error> + 'a;

/// A look at what is alive of the tree.
pub(crate) type Look<'a> = dyn FnMut() -> Result<Living, Error> + 'a;

/// What became of a tree.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    pub(crate) found: HashSet<Process>,
    pub(crate) survivors: HashSet<Process>,
}

impl Ended {
    pub(crate) fn survived(&self, process: Process) -> bool {
        self.survivors.contains(&process)
    }

    pub(crate) fn killed_beside(&self, root: Process) -> usize {
        self.found.difference(&self.survivors).filter(|process| **process != root).count()
    }

    pub(crate) fn survivor_ids(&self) -> Vec<u32> {
        let mut ids: Vec<_> = self.survivors.iter().map(|process| process.id()).collect();
        ids.sort_unstable();
        ids
    }
}

/// Ends every process of the tree; an empty tree costs one look.
pub(crate) fn end(tree: &mut Look<'_>, grace: Duration, pause: &mut Pause<'_>) -> Result<Ended, Error> {
    let mut ended = Ended::default();
    if !ask(tree, grace, &mut ended, pause)? {
        force(tree, &mut ended, pause)?;
    }
    if !ended.found.is_empty() {
        tracing::debug!(found = ended.found.len(), survivors = ended.survivors.len(), "ended a process tree");
    }
    Ok(ended)
}

/// Sends SIGTERM to all that there is and waits for the grace. Answers whether the tree is gone. What is
/// started after the request is left alone: it may be somebody's clean-up.
fn ask(
    tree: &mut Look<'_>,
    grace: Duration,
    ended: &mut Ended,
    pause: &mut Pause<'_>,
) -> Result<bool, Error> {
    let deadline = Instant::now().checked_add(grace);
    // Frozen first, else what is forked between the look and the request would sit out the grace.
    ended.found = freeze(tree, pause)?;
    for process in &ended.found {
        process.signal(Signal::TERM);
    }
    for process in &ended.found {
        process.signal(Signal::CONT);
    }
    let mut gone = ended.found.is_empty();
    let mut length = SHORTEST_PAUSE;
    while !gone && deadline.is_none_or(|deadline| Instant::now() < deadline) {
        pause(length)?;
        length = (length * 2).min(LONGEST_PAUSE);
        gone = tree()?.processes.is_empty();
    }
    Ok(gone)
}

/// Sends SIGKILL in rounds until a look finds nothing.
fn force(tree: &mut Look<'_>, ended: &mut Ended, pause: &mut Pause<'_>) -> Result<(), Error> {
    let deadline = Instant::now() + FORCE_LIMIT;
    let mut length = SHORTEST_PAUSE;
    loop {
        let living = freeze(tree, pause)?;
        ended.found.extend(&living);
        if living.is_empty() {
            return Ok(());
        }
        if deadline <= Instant::now() {
            ended.survivors = living;
            return Ok(());
        }
        for process in &living {
            process.signal(Signal::KILL);
        }
        pause(length)?;
        length = (length * 2).min(LONGEST_PAUSE);
    }
}

/// Stops processes until a look finds no new one and nobody in the middle of a fork. Signalling one by one
/// would lose against a tree that forks as fast as it dies; a stopped process cannot fork.
fn freeze(tree: &mut Look<'_>, pause: &mut Pause<'_>) -> Result<HashSet<Process>, Error> {
    let deadline = Instant::now() + FREEZE_LIMIT;
    let mut frozen = HashSet::new();
    loop {
        let living = tree()?;
        let fresh: Vec<_> = living.processes.difference(&frozen).copied().collect();
        if (fresh.is_empty() && living.all_stopped) || deadline <= Instant::now() {
            return Ok(living.processes);
        }
        if fresh.is_empty() {
            pause(SHORTEST_PAUSE)?;
        }
        for process in fresh {
            process.signal(Signal::STOP);
            frozen.insert(process);
        }
    }
}
