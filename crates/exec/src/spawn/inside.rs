//! Starting a program in a sandbox: first our own binary, which puts up the walls and then starts the program.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::{Spawned, explain, location, marks};
use crate::mark::{self, Mark};
use crate::sandbox::{Control, Failure, InnerCommand, Input, Level, Plan, Refusal};
use crate::{Error, Program, Sandbox, Stdin};

/// What stands between a process that was started and the program that it is to become or to hold.
#[derive(Debug)]
pub(crate) struct Walls {
    control: Control,
    plan: Plan,
    level: Level,
    /// The end of a pipe that the program reads.
    stdin: Option<PipeReader>,
}

/// Starts the process that puts up the walls; nothing of the program runs before [`Walls::put_up`].
pub(super) fn spawn(program: &Program, sandbox: &Sandbox, mark: &Mark) -> Result<Spawned, Error> {
    let failed = |step: &str| {
        let (program, step) = (program.name.clone(), step.to_owned());
        move |source| Error::Sandbox { program, step, source }
    };
    let plan = plan(program, sandbox, mark)?;
    let (ours, theirs) = UnixStream::pair().map_err(failed("make a socket"))?;
    #[expect(clippy::disallowed_methods, reason = "this is the place that the ban points to")]
    let mut command = Command::new(&sandbox.init.program);
    // The program's own variables come with the plan: until the walls are up, none of them may have an effect.
    command.args(&sandbox.init.args).arg0("longhaul").env_clear().env(mark::VARIABLE, marks(program, mark));
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.current_dir("/").process_group(0);
    let stdin = match program.stdin {
        Stdin::Talk => Some(io::pipe().map_err(failed("make a pipe"))?),
        Stdin::Null | Stdin::Bytes(_) => None,
    };
    let mut child = command.spawn().map_err(failed("start the process that puts up the walls"))?;
    let (stdin, sender) = stdin.unzip();
    child.stdin = sender.map(|sender| OwnedFd::from(sender).into());
    let walls = Walls { control: Control::new(ours), plan, level: sandbox.level, stdin };
    Ok(Spawned { child, walls: Some(walls) })
}

fn plan(program: &Program, sandbox: &Sandbox, mark: &Mark) -> Result<Plan, Error> {
    let name = program.name.clone();
    let directory = match &program.directory {
        Some(directory) => directory.canonicalize(),
        None => std::env::current_dir(),
    };
    let directory = directory.map_err(|source| Error::Start { program: name.clone(), source })?;
    let mut variables = program.variables_inside(sandbox);
    variables.push((mark::VARIABLE.into(), marks(program, mark)));
    let holds_nul = |text: &std::ffi::OsString| text.as_encoded_bytes().contains(&0);
    if program.args.iter().chain([&program.name]).any(holds_nul) {
        return Err(Error::NulByte { program: name, source: io::ErrorKind::InvalidInput.into() });
    }
    let command = InnerCommand {
        name: program.name.clone(),
        args: program.args.clone(),
        directory,
        variables,
        stdin: match &program.stdin {
            Stdin::Null => Input::Nothing,
            Stdin::Bytes(bytes) => Input::Bytes(bytes.clone()),
            Stdin::Talk => Input::Handed,
        },
    };
    Plan::new(sandbox, command, program.grace).map_err(|refusal| match refusal {
        Refusal::Path { path, source } => Error::SandboxPath { program: name, path, source },
        Refusal::BelowHidden { path, hidden } => Error::SandboxHidden { program: name, path, hidden },
    })
}

impl Walls {
    /// Waits until the program runs behind its walls.
    pub(crate) fn put_up(&mut self, program: &Program) -> Result<(), Error> {
        let name = program.name.clone();
        // Ours is closed after this: only the program's own end keeps what is written alive.
        let stdin = self.stdin.take();
        self.control.begin(&self.plan, stdin.as_ref().map(|stdin| stdin.as_fd())).map_err(|failure| {
            match failure {
                Failure::Wall { step, source } => Error::Sandbox { program: name, step, source },
                Failure::Program(source) => explain_inside(program, source),
            }
        })
    }

    /// How many processes of the program were still alive when it ended by itself.
    pub(crate) fn left_behind(&mut self) -> Option<usize> {
        self.control.survivors()
    }

    /// How many processes of the tree are ours and not the program's, the first excepted.
    pub(crate) fn own_processes(&self) -> usize {
        match self.level {
            // The inner process; and the program itself, whose place the outer one takes.
            Level::Full => 2,
            Level::Reduced | Level::None => 0,
        }
    }
}

/// A program that is there outside may be missing inside.
fn explain_inside(program: &Program, source: io::Error) -> Error {
    let runs_outside = location(program).is_some_and(|path| access(&path, Access::EXEC_OK).is_ok());
    match Errno::from_io_error(&source) {
        Some(Errno::NOENT | Errno::ACCESS) if runs_outside => {
            let step = "run it: it or its interpreter is not in the sandbox".to_owned();
            Error::Sandbox { program: program.name.clone(), step, source }
        }
        _ => explain(program, source),
    }
}
