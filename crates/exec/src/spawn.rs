//! The one place where a process comes into being. Says precisely why one could not.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Access, access};
use rustix::io::Errno;

#[cfg_attr(not(target_os = "linux"), path = "spawn/wrapped.rs")]
mod inside;

pub(crate) use inside::Walls;

use crate::mark::{self, Mark};
use crate::{Environment, Error, Program, Stdin};

/// A process that was started. In a sandbox it is not yet the program.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) child: Child,
    pub(crate) walls: Option<Walls>,
}

/// Starts the program in a process group of its own, marked, with pipes for its output.
pub(crate) fn spawn(program: &Program, mark: &Mark) -> Result<Spawned, Error> {
    if let Some(directory) = &program.directory {
        check(program, directory)?;
    }
    if let Some(sandbox) = &program.sandbox {
        return inside::spawn(program, sandbox, mark);
    }
    let child = command(program, mark).spawn().map_err(|source| explain(program, source))?;
    Ok(Spawned { child, walls: None })
}

/// Starts a program that outlives us: no pipes, no supervision, and of all marks only its own label. What it prints goes into
/// the file, if there is one. It is in a session of its own before it begins: a terminal that is closed a moment after we end
/// would take it along otherwise.
#[expect(unsafe_code, reason = "nothing safe is run between the two halves of starting; this makes one call")]
pub(crate) fn detach(program: &Program, output: Option<&File>) -> Result<Child, Error> {
    if let Some(directory) = &program.directory {
        check(program, directory)?;
    }
    let mut command = bare(program);
    match &program.label {
        Some(label) => command.env(mark::VARIABLE, label),
        None => command.env_remove(mark::VARIABLE),
    };
    let printed = || match output {
        Some(file) => file.try_clone().map_or_else(|_| Stdio::null(), Stdio::from),
        None => Stdio::null(),
    };
    command.stdin(Stdio::null()).stdout(printed()).stderr(printed());
    // SAFETY: it allocates nothing, takes no lock and touches no memory of ours.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from));
    }
    command.spawn().map_err(|source| explain(program, source))
}

/// Afterwards a refusal could no longer be told from one that is about the program's file.
fn check(program: &Program, directory: &Path) -> Result<(), Error> {
    let (program, directory) = (program.name.clone(), directory.to_path_buf());
    if !directory.is_dir() {
        return Err(Error::DirectoryMissing { program, directory });
    }
    if access(&directory, Access::EXEC_OK).is_err() {
        return Err(Error::DirectoryForbidden { program, directory });
    }
    Ok(())
}

fn command(program: &Program, mark: &Mark) -> Command {
    let mut command = bare(program);
    // Last, so that nothing a caller sets can hide a process from its own kill.
    command.env(mark::VARIABLE, marks(program, mark));
    command.stdin(match program.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Bytes(_) | Stdin::Talk => Stdio::piped(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

/// The marks of all programs around this one, and its own.
fn marks(program: &Program, mark: &Mark) -> OsString {
    let outer = std::env::var_os(mark::VARIABLE);
    mark.value(outer.as_deref(), program.label.as_deref())
}

/// The program with its directory and environment.
fn bare(program: &Program) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place that the ban points to")]
    let mut command = Command::new(&program.name);
    command.args(&program.args);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    if let Environment::Only(variables) = &program.environment {
        command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
    }
    for name in &program.removed {
        command.env_remove(name);
    }
    command.envs(program.set.iter().map(|(name, value)| (name, value)));
    command
}

fn explain(program: &Program, source: io::Error) -> Error {
    let name = program.name.clone();
    match Errno::from_io_error(&source) {
        // A folder on the path that may not be entered also makes a search in vain end in a refusal.
        Some(Errno::NOENT | Errno::ACCESS) if location(program).is_none() => {
            Error::ProgramNotFound { program: name }
        }
        Some(Errno::NOENT) => Error::InterpreterMissing { program: name },
        Some(Errno::ACCESS | Errno::NOEXEC) => Error::NotExecutable { program: name, source },
        Some(Errno::TOOBIG) => Error::TooLong { program: name, source },
        _ if source.kind() == io::ErrorKind::InvalidInput => Error::NulByte { program: name, source },
        _ => Error::Start { program: name, source },
    }
}

/// Where the program's file is, if anywhere.
fn location(program: &Program) -> Option<PathBuf> {
    let name = Path::new(&program.name);
    if name.components().count() > 1 {
        let base = program.directory.as_deref().unwrap_or(Path::new(""));
        return Some(base.join(name)).filter(|path| path.try_exists().unwrap_or(true));
    }
    let path = program.variable(OsStr::new("PATH")).unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.exists())
}
