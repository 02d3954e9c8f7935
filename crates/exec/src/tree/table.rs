//! Reading `/proc`. A process may vanish between any two reads, which is not an error; all else is,
//! because a row that is missing for another reason would pass for a dead process.

use std::fs;
use std::io;
use std::ops::RangeInclusive;

use rustix::io::Errno;
use rustix::process::Pid;

use super::Process;
use crate::Error;

/// What we need of one line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) process: Process,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) alive: bool,
    /// Stopped by a signal or a debugger, and thus not in the middle of a fork.
    pub(super) stopped: bool,
    /// Kernel threads and the dead have no memory.
    pub(super) has_memory: bool,
}

/// The ids of all processes that we may see.
pub(super) fn pids() -> Result<Vec<Pid>, Error> {
    let failed = |source| Error::ProcessTable { source };
    let mut pids = Vec::new();
    for entry in fs::read_dir("/proc").map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        pids.extend(name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw));
    }
    Ok(pids)
}

/// The id that was given out last, where the system tells. Ids are given out in ascending order, starting
/// anew when they run out.
pub(super) fn last_pid() -> Result<Option<i32>, Error> {
    match fs::read_to_string("/proc/loadavg") {
        Ok(text) => Ok(text.split_ascii_whitespace().last().and_then(|field| field.parse().ok())),
        // `/proc` can be mounted with its processes alone.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::ProcessTable { source }),
    }
}

/// One process, if it is there.
pub(super) fn row(pid: Pid) -> Result<Option<Row>, Error> {
    let Some(text) = read(pid, "stat")? else { return Ok(None) };
    match parse(pid, &text) {
        Some(row) => Ok(Some(row)),
        None => {
            Err(Error::ProcessTable { source: io::Error::other(format!("`/proc/{pid}/stat` is unreadable")) })
        }
    }
}

/// The processes among ids that were given out; threads get ids from the same supply and read alike.
pub(super) fn processes(ids: RangeInclusive<i32>) -> Result<Vec<Pid>, Error> {
    let mut processes = Vec::new();
    for pid in ids.filter_map(Pid::from_raw) {
        let status = read(pid, "status")?.unwrap_or_default();
        let leader = format!("Tgid:\t{pid}");
        if status.split(|byte| *byte == b'\n').any(|line| line == leader.as_bytes()) {
            processes.push(pid);
        }
    }
    Ok(processes)
}

/// The environment a process was started with, if it is there and ours to see.
pub(super) fn environment(pid: Pid) -> Result<Option<Vec<u8>>, Error> {
    read(pid, "environ")
}

fn read(pid: Pid, file: &str) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(format!("/proc/{pid}/{file}")) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) => match Errno::from_io_error(&error) {
            // Gone, or another user's.
            Some(Errno::NOENT | Errno::SRCH | Errno::ACCESS | Errno::PERM) => Ok(None),
            _ => Err(Error::ProcessTable { source: error }),
        },
    }
}

fn parse(pid: Pid, text: &[u8]) -> Option<Row> {
    // The second field is the name in parentheses and may itself hold spaces and parentheses.
    let after_name = text.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> = str::from_utf8(&text[after_name..]).ok()?.split_ascii_whitespace().collect();
    // The first field here is number 3 in proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3).copied();
    let threads: u32 = field(20)?.parse().ok()?;
    let state = field(3)?;
    let ended = matches!(state, "Z" | "X" | "x");
    Some(Row {
        process: Process { pid, started_ticks: field(22)?.parse().ok()? },
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        // A process whose first thread has ended looks like a zombie while the others run on.
        alive: !ended || threads > 1,
        stopped: matches!(state, "T" | "t"),
        has_memory: field(23)? != "0",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "4194304 1 2 3 4 5 6 7 8 20 0";

    fn parsed(line: &str) -> Option<Row> {
        parse(Pid::from_raw(7).unwrap(), line.as_bytes())
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let row = parsed(&format!("7 (a) Z 1 (b)) S 3 5 5 0 -1 {REST} 1 0 900 4096 11\n"));
        let process = Process { pid: Pid::from_raw(7).unwrap(), started_ticks: 900 };
        assert_eq!(
            row,
            Some(Row { process, parent: 3, group: 5, alive: true, stopped: false, has_memory: true })
        );
    }

    #[test]
    fn a_zombie_is_dead_unless_other_threads_still_run() {
        let zombie = parsed(&format!("7 (a) Z 3 5 5 0 -1 {REST} 1 0 900 0 0\n")).unwrap();
        let headless = parsed(&format!("7 (a) Z 3 5 5 0 -1 {REST} 2 0 900 0 0\n")).unwrap();
        assert!(!zombie.alive);
        assert!(headless.alive);
    }

    #[test]
    fn a_line_that_is_cut_short_is_not_a_row() {
        assert_eq!(parsed("7 (a) S 3 5"), None);
        assert_eq!(parsed(""), None);
    }

    #[test]
    fn a_thread_is_not_taken_for_a_process() {
        let own = rustix::process::getpid().as_raw_pid();
        let thread = rustix::thread::gettid().as_raw_pid();
        assert_ne!(own, thread, "tests run in threads of their own");
        assert_eq!(processes(own..=own).unwrap(), vec![rustix::process::getpid()]);
        assert_eq!(processes(thread..=thread).unwrap(), Vec::new());
    }

    #[test]
    fn the_table_holds_this_process() {
        let own = rustix::process::getpid();
        assert!(pids().unwrap().contains(&own));
        let row = row(own).unwrap().unwrap();
        assert!(row.alive && row.has_memory);
    }
}
