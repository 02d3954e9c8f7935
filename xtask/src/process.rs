//! Starting cargo, git and our own binaries: the one place of xtask that makes a `Command`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Error;

/// A command line in the workspace root.
#[expect(clippy::disallowed_methods, reason = "xtask drives cargo, and must not depend on `longhaul-exec`")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace_root()).stdin(Stdio::null());
    command
}

/// Where the workspace lies. Cargo says it at run time; a path compiled in would be wrong for a second
/// checkout that shares the target directory.
pub(crate) fn workspace_root() -> PathBuf {
    let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    manifest_dir.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")).to_path_buf()
}

/// Runs to the end with our own stdout and stderr, and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool, Error> {
    let status = command.status().map_err(|source| Error::Start { program: program(command), source })?;
    Ok(status.success())
}

/// Runs to the end and returns stdout; a failing exit is an error.
pub(crate) fn stdout(command: &mut Command) -> Result<Vec<u8>, Error> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Error::Start { program: program(command), source })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Error::Failed { command: shown(command), status: output.status })
    }
}

/// The command line as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

pub(crate) fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
