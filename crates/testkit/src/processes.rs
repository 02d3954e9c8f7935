//! Real processes for tests and benches, started without the supervision of `longhaul-exec`: these are the
//! ones that get killed in the middle.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// A command with nothing of our environment but the search path.
#[expect(clippy::disallowed_methods, reason = "test processes must not be tidied up by `longhaul-exec`")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// Kills a process without a warning, and says whether it was there.
pub fn kill(process: u32) -> bool {
    let Ok(number) = i32::try_from(process) else { return false };
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(number), nix::sys::signal::Signal::SIGKILL).is_ok()
}

/// Asks a process to end.
pub fn terminate(process: u32) -> bool {
    let Ok(number) = i32::try_from(process) else { return false };
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(number), nix::sys::signal::Signal::SIGTERM).is_ok()
}

/// The processes that were started with this variable, those behind walls included.
pub fn with_variable(name: &str, value: &Path) -> Vec<u32> {
    let wanted = [name.as_bytes(), b"=", value.as_os_str().as_encoded_bytes()].concat();
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |process: &u32| {
        let variables = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == wanted)
    };
    numbers.filter(has).collect()
}

/// A tool that a test cannot do without, and the package that holds it.
pub fn tool(name: &str, package: &str) -> Command {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    assert!(found, "this test needs `{name}`: install the package `{package}`");
    command(name)
}

/// A driver process that works in `home`.
pub fn driver(program: impl AsRef<OsStr>, home: &Path, verb: &str) -> Command {
    let mut command = command(program);
    command.arg(verb).arg("--home").arg(home);
    command
}

/// Runs what is added to it, and kills each process of it at its n-th sync.
pub fn dies_at_sync(n: &str) -> Command {
    let mut command = tool("strace", "strace");
    command
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"])
        .args(["-e", &format!("inject=fsync,fdatasync:signal=KILL:when={n}")]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "this test needs `no-such-tool`: install the package `some-package`")]
    fn a_tool_that_is_missing_is_named_with_its_package() {
        tool("no-such-tool", "some-package");
    }
}
