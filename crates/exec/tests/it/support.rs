//! Shell scripts as programs, and looks at the process table that do not use the code under test.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_exec::Program;

/// A guard for tests: far longer than anything here takes.
pub(crate) const LONG: Duration = Duration::from_mins(1);

pub(crate) fn sh(script: &str) -> Program {
    Program::new("sh").arg("-c").arg(script).timeout(LONG).grace(Duration::from_secs(20))
}

/// Polls until the condition holds.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2)); // tidy: polling with a deadline
    }
}

/// The process id that a script writes, with a newline, into a file.
pub(crate) fn pid_in(file: &Path) -> u32 {
    let read = || fs::read_to_string(file).ok().filter(|text| text.ends_with('\n'));
    wait_until("a script has written its process id", || read().is_some());
    let text = read().expect("it was there a moment ago");
    text.trim().parse().expect("a process id is a number")
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let Ok(text) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// How many living processes have this text in their command line.
pub(crate) fn count_with_argument(text: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("tests run with a readable /proc").filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(text)
    })
    .count()
}
