//! Which processes are agents: those that a runner started, and those that a live `longhaul mcp` serves.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Whether we, or a process that we descend from, belong to an agent. Clearing one's own variable does not help:
/// the process above still has it.
pub fn is_under_agent() -> bool {
    const MARK: &[u8] = b"LONGHAUL_SESSION=";
    if std::env::var_os("LONGHAUL_SESSION").is_some() {
        return true;
    }
    let ancestors = ancestors();
    let is_marked = |id: &i32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(MARK))
    };
    ancestors.iter().any(is_marked) || served().iter().any(|agent| ancestors.contains(agent))
}

fn ancestors() -> Vec<i32> {
    let mut found = Vec::new();
    let mut process = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
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
    let servers = numbers.filter(|id| {
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        is_server(&words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>())
    });
    servers.filter_map(parent_of).filter(|parent| *parent > 1).collect()
}

/// One that listens on a port was started by a person or a service, not by the agents that connect to it.
fn is_server<T: AsRef<str>>(words: &[T]) -> bool {
    let Some((program, words)) = words.split_first() else { return false };
    let is_ours = Path::new(program.as_ref()).file_name().is_some_and(|name| name == "longhaul");
    let has = |wanted: &str| words.iter().any(|word| word.as_ref() == wanted);
    let listens = words.iter().any(|word| word.as_ref() == "--http" || word.as_ref().starts_with("--http="));
    is_ours && has("mcp") && !has("install") && !listens
}

/// The fourth field of `stat`, counted from behind the name, which may hold anything.
fn parent_of(process: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
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
        assert!(!is_server(&["vi", "mcp"]));
        assert!(!is_server::<&str>(&[]));
    }

    #[test]
    fn the_ancestors_begin_with_the_parent() {
        let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
        assert_eq!(ancestors().first().copied(), parent.filter(|id| *id > 1));
    }
}
