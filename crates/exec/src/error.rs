//! What can go wrong around a process. A program that ran and failed is not an error but an `Outcome`.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::Finished;

/// Why a program could not be started, watched or killed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("could not start `{}`: there is no such program; install it or give its full path", .program.display())]
    ProgramNotFound { program: OsString },

    #[error("could not start `{}`: the interpreter it names does not exist; correct its `#!` line or install the interpreter", .program.display())]
    InterpreterMissing { program: OsString },

    #[error("could not start `{}`: it is not an executable file; make it one with `chmod +x` or name another", .program.display())]
    NotExecutable { program: OsString, source: io::Error },

    #[error("could not start `{}`: the directory `{}` does not exist; create it or name another", .program.display(), .directory.display())]
    DirectoryMissing { program: OsString, directory: PathBuf },

    #[error("could not start `{}`: the directory `{}` may not be entered; change its permissions or name another", .program.display(), .directory.display())]
    DirectoryForbidden { program: OsString, directory: PathBuf },

    #[error("could not start `{}`: an argument or variable holds a NUL byte; remove it", .program.display())]
    NulByte { program: OsString, source: io::Error },

    #[error("could not start `{}`: its arguments and environment are too long; pass the text through stdin", .program.display())]
    TooLong { program: OsString, source: io::Error },

    #[error("could not start `{}`; look at the cause and try again", .program.display())]
    Start { program: OsString, source: io::Error },

    #[error("could not start `{}` in its sandbox: could not {step}: {source}; `longhaul sandbox check` tells what works here", .program.display())]
    Sandbox { program: OsString, step: String, source: io::Error },

    #[error("could not start `{}` in its sandbox: `{}` cannot be bound: {source}; check the path", .program.display(), .path.display())]
    SandboxPath { program: OsString, path: PathBuf, source: io::Error },

    #[error("could not start `{}` in its sandbox: `{}` lies in `{}`, which is to be hidden; hide or bind, not both", .program.display(), .path.display(), .hidden.display())]
    SandboxHidden { program: OsString, path: PathBuf, hidden: PathBuf },

    #[error("could not {doing} for `{}`, which does not run now; look at the cause and try again", .program.display())]
    Supervise { program: OsString, doing: &'static str, source: io::Error },

    #[error("could not read the process table; mount `/proc` and allow reading it")]
    ProcessTable { source: io::Error },

    /// Carries what is known of the run, because its result must not be lost with the kill.
    #[error("processes survived SIGKILL: {}; look at them with `ps` and end them as their owner", list(.pids))]
    Survived { pids: Vec<u32>, finished: Box<Finished> },

    #[error("processes of an earlier start survived SIGKILL: {}; look at them with `ps` and end them as their owner", list(.pids))]
    Unkillable { pids: Vec<u32> },
}

fn list(pids: &[u32]) -> String {
    pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Captured, Outcome};

    #[test]
    fn survivors_are_named_by_their_ids_and_the_result_is_kept() {
        let finished = Finished {
            outcome: Outcome::Exited(0),
            stdout: Captured::default(),
            stderr: Captured::default(),
            duration: Duration::ZERO,
            survivors_killed: 0,
        };
        let error = Error::Survived { pids: vec![7, 40], finished: Box::new(finished) };
        assert_eq!(
            error.to_string(),
            "processes survived SIGKILL: 7, 40; look at them with `ps` and end them as their owner"
        );
    }
}
