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

/// A tool that a test cannot do without, by the name of the package that holds it.
pub fn tool(name: &str) -> Command {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
    assert!(found, "this test needs `{name}`: install the package `{name}`");
    command(name)
}

/// A driver process that works in `home`.
pub fn driver(program: impl AsRef<OsStr>, home: &Path, verb: &str) -> Command {
    let mut command = command(program);
    command.arg(verb).arg("--home").arg(home);
    command
}
