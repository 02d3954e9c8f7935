//! Looking through the process table for all that belongs together. A process that was once seen to belong
//! always belongs: parent, group and environment can change.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use rustix::process::Pid;

use super::table::{self, Row};
use super::{Living, Process};
use crate::Error;

/// While a process calls `execve`, its environment reads as empty for a moment.
const EXEC_LOOKS: u32 = 3;
const EXEC_PAUSE: Duration = Duration::from_millis(1);

/// By what a process is seen to belong.
pub(super) struct Sign<'a> {
    /// Whether it is worth looking at at all; spares reading most environments.
    pub(super) may_hold: &'a dyn Fn(&Row) -> bool,
    /// Whether a process with this environment belongs by itself. Its descendants do in any case.
    pub(super) is_in: &'a dyn Fn(Process, &[u8]) -> bool,
}

/// Where a sweep begins.
pub(super) struct Start {
    /// The id that was given out last before the batch was listed.
    pub(super) last: Option<i32>,
    pub(super) batch: Vec<Pid>,
}

/// What one look at the table showed.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) living: Living,
    unsure: bool,
}

/// Looks again while a process in the middle of `execve` could not be judged.
pub(super) fn until_sure(mut look: impl FnMut() -> Result<Look, Error>) -> Result<Living, Error> {
    let mut seen = look()?;
    for _ in 1..EXEC_LOOKS {
        if !seen.unsure {
            break;
        }
        thread::sleep(EXEC_PAUSE);
        seen = look()?;
    }
    Ok(seen.living)
}

/// Looks at every process of the batch, then at those that came up meanwhile, until none did. One pass is not
/// enough: a process that starts a successor and dies can stay ahead of it.
pub(super) fn sweep(members: &mut HashSet<Process>, start: Start, sign: &Sign<'_>) -> Result<Look, Error> {
    let Start { mut last, mut batch } = start;
    let mut rows = Vec::new();
    let mut unjudged = Vec::new();
    while !batch.is_empty() {
        for pid in batch {
            let Some(row) = table::row(pid)?.filter(|row| (sign.may_hold)(row)) else { continue };
            rows.push(row);
            if !judge(members, row, sign)? {
                unjudged.push(row.process);
            }
        }
        let latest = table::last_pid()?;
        batch = newer(last, latest)?;
        last = latest;
    }
    add_descendants(members, &rows);
    let unsure = unjudged.iter().any(|process| !members.contains(process));
    rows.retain(|row| row.alive && members.contains(&row.process));
    let all_stopped = rows.iter().all(|row| row.stopped);
    let processes = rows.iter().map(|row| row.process).collect();
    Ok(Look { living: Living { processes, all_stopped }, unsure })
}

/// Adds the process if it belongs by itself. Answers whether that could be told at this moment.
fn judge(members: &mut HashSet<Process>, row: Row, sign: &Sign<'_>) -> Result<bool, Error> {
    if !row.alive || !row.has_memory || members.contains(&row.process) {
        return Ok(true);
    }
    let Some(environment) = table::environment(row.process.pid)? else { return Ok(true) };
    if (sign.is_in)(row.process, &environment) {
        members.insert(row.process);
    }
    Ok(!environment.is_empty())
}

/// Adds children of members and groups that members lead, until nothing is new.
fn add_descendants(members: &mut HashSet<Process>, rows: &[Row]) {
    let mut known = 0;
    while known < members.len() {
        known = members.len();
        let present: HashSet<i32> = rows
            .iter()
            .filter(|row| members.contains(&row.process))
            .map(|row| row.process.pid.as_raw_pid())
            .collect();
        let related = rows.iter().filter(|row| present.contains(&row.parent) || present.contains(&row.group));
        members.extend(related.map(|row| row.process));
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
