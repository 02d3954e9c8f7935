//! Which processes are agents: those that a runner started, and those that a live `longhaul mcp` serves.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What the environment of whoever works on a session holds.
const MARK: &[u8] = b"LONGHAUL_SESSION=";

/// Whether we, or a process that we descend from, belong to an agent. Clearing one's own variable does not help:
/// the process above still has it.
pub fn is_under_agent() -> bool {
    if std::env::var_os("LONGHAUL_SESSION").is_some() {
        return true;
    }
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    are_of_agent(&from(parent))
}

/// The same for another process of this machine, which speaks to us. Whoever is behind walls is an agent, and so is who
/// cannot be looked at.
pub fn is_agent(process: i32) -> bool {
    is_walled(process) || are_of_agent(&from(Some(process)))
}

fn are_of_agent(processes: &[i32]) -> bool {
    let is_marked = |id: &i32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(MARK))
    };
    processes.iter().any(is_marked) || served().iter().any(|agent| processes.contains(agent))
}

/// Whether a process lives in namespaces of its own. What is gone, and what does not let itself be looked at, counts as such.
fn is_walled(process: i32) -> bool {
    ["user", "mnt", "pid", "net"].iter().any(|kind| {
        let own = fs::read_link(format!("/proc/self/ns/{kind}"));
        let theirs = fs::read_link(format!("/proc/{process}/ns/{kind}"));
        match (own, theirs) {
            (Ok(own), Ok(theirs)) => own != theirs,
            (Err(_), _) | (_, Err(_)) => true,
        }
    })
}

/// A process and all that it descends from.
fn from(first: Option<i32>) -> Vec<i32> {
    let mut found = Vec::new();
    let mut process = first;
    while let Some(id) = process.filter(|id| *id > 1) {
        found.push(id);
        process = parent_of(id);
    }
    found
}

/// Whoever started a `longhaul mcp` that speaks with it over its pipes. A shell further up is no agent: only who
/// holds the other end of the pipe is. Found by looking, because a server leaves no file behind when it starts.
fn served() -> BTreeSet<i32> {
    let Ok(processes) = fs::read_dir("/proc") else { return BTreeSet::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let servers = numbers.filter(|id| is_our_program(*id) && is_server(&words_of(*id)));
    servers
        .filter_map(|server| parent_of(server).filter(|parent| *parent > 1 && has_started(*parent, server)))
        .collect()
}

/// By the program that runs, not by what it calls itself. Another release of ours is ours too, and so is one whose file
/// was replaced while it ran. What belongs to another user cannot be looked at, and is no agent of this one.
fn is_our_program(process: i32) -> bool {
    let Some(program) = program_of(process) else { return false };
    program.file_name() == Some(OsStr::new("longhaul"))
        || std::env::current_exe().is_ok_and(|own| own == program)
}

fn program_of(process: i32) -> Option<PathBuf> {
    let program = fs::read_link(format!("/proc/{process}/exe")).ok()?;
    let name = program.to_str()?;
    Some(PathBuf::from(name.strip_suffix(" (deleted)").unwrap_or(name)))
}

fn words_of(process: i32) -> Vec<String> {
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// One that listens on a port was started by a person or a service, not by the agents that connect to it. The verb is
/// the first word that is no flag: a goal may be called `mcp`.
fn is_server<T: AsRef<str>>(words: &[T]) -> bool {
    let mut words = words.iter().skip(1).map(AsRef::as_ref);
    let mut verb = words.by_ref().skip_while(|word| word.starts_with('-'));
    if verb.next() != Some("mcp") {
        return false;
    }
    !words.any(|word| word == "install" || word == "--http" || word.starts_with("--http="))
}

/// A process whose parent has died hangs from whoever collects the orphans, who started none of them: a service manager
/// is not an agent, or nobody at this machine would be a person. It holds no end of the server's input, or, where
/// that cannot be told (the ends of a socket have different names), it is in another session of the terminal.
fn has_started(parent: i32, server: i32) -> bool {
    let input = fs::read_link(format!("/proc/{server}/fd/0")).unwrap_or_default();
    let is_pipe = input.to_str().is_some_and(|name| name.starts_with("pipe:"));
    if is_pipe && let Some(holds) = holds(parent, &input) {
        return holds;
    }
    let (theirs, own) = (session_of(parent), session_of(server));
    theirs == own || own == Some(server)
}

/// Whether a process has a file open; `None` if it does not let itself be looked at.
fn holds(process: i32, file: &Path) -> Option<bool> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    Some(open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|found| found == file)))
}

fn parent_of(process: i32) -> Option<i32> {
    stat(process, 1)
}

fn session_of(process: i32) -> Option<i32> {
    stat(process, 3)
}

/// A field of `stat`, counted from behind the name, which may hold anything.
fn stat(process: i32, field: usize) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(field)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_over_pipes_is_told_from_everything_else() {
        assert!(is_server(&["/usr/bin/longhaul", "mcp", ""]));
        assert!(is_server(&["longhaul", "-v", "mcp", "--profile", "outer"]));
        assert!(!is_server(&["longhaul", "mcp", "--http", "127.0.0.1:1"]));
        assert!(!is_server(&["longhaul", "mcp", "--http=127.0.0.1:1"]));
        assert!(!is_server(&["longhaul", "mcp", "install", "claude"]));
        assert!(!is_server(&["longhaul", "gate", "approve"]));
        assert!(!is_server(&["longhaul", "session", "start", "--goal", "mcp"]), "a goal is no verb");
        assert!(!is_server::<&str>(&[]));
    }

    #[test]
    fn what_runs_counts_and_not_what_it_is_called() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(is_our_program(own), "this very program is ours, whatever its name is");
        assert!(!is_our_program(1));
    }

    #[test]
    fn the_ancestors_begin_with_the_parent() {
        let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
        assert_eq!(from(parent).first().copied(), parent.filter(|id| *id > 1));
    }

    #[test]
    fn who_is_gone_is_taken_for_an_agent_and_a_child_of_ours_for_what_we_are() {
        assert!(is_agent(i32::MAX));
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(!is_walled(own));
        assert_eq!(is_agent(own), is_under_agent());
    }

    #[test]
    fn only_who_holds_an_end_of_a_pipe_has_it() {
        use std::os::fd::AsRawFd as _;
        let own = i32::try_from(std::process::id()).unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        let name = |number: i32| fs::read_link(format!("/proc/{own}/fd/{number}")).unwrap();
        let input = name(reader.as_raw_fd());
        assert_eq!(input, name(writer.as_raw_fd()), "both ends have one name");
        drop(reader);
        assert_eq!(holds(own, &input), Some(true), "one end is enough");
        drop(writer);
        assert_eq!(holds(own, &input), Some(false));
        assert_eq!(holds(i32::MAX, &input), None);
    }
}
